/** The sandbox's mailbox: an SMTP server, its messages as JSON for scripts and tests, and an HTML page. */
import { LINK, startMailServer, type ReceivedMail } from './mailbox-server.ts';
import { escapeHtml, renderSandboxPage } from './page.ts';

export type Mailbox = {
  readonly smtpUrl: string;
  /** Handles requests below `/sandbox/mail`. Returns null for other paths. */
  handle(request: Request): Promise<Response | null>;
  /** The messages to an address, newest first. */
  messagesTo(to: string): ReceivedMail[];
  /** Rejects the next `count` messages with an SMTP reply code. */
  refuseNext(count: number, replyCode: number): void;
  close(): Promise<void>;
};

export async function startMailbox(): Promise<Mailbox> {
  const server = await startMailServer();
  const messagesTo = (to: string): ReceivedMail[] =>
    server.messages().filter((message) => message.to === to.trim().toLowerCase());
  return {
    smtpUrl: server.smtpUrl,
    messagesTo,
    refuseNext: server.refuseNext,
    close: server.close,
    async handle(request) {
      const url = new URL(request.url);
      const to = url.searchParams.get('to');
      const messages = to === null ? [...server.messages()] : messagesTo(to);
      if (url.pathname === '/sandbox/mail/messages') {
        if (request.method === 'DELETE') {
          server.clear();
          return new Response(null, { status: 204 });
        }
        return Response.json(messages, { headers: { 'Cache-Control': 'no-store' } });
      }
      if (url.pathname !== '/sandbox/mail') return null;
      const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
      return new Response(renderSandboxPage('Mail', inbox(messages, to)), { headers });
    },
  };
}

function inbox(messages: readonly ReceivedMail[], to: string | null): string {
  const filter = to === null ? '' : `<p class="quiet">To ${escapeHtml(to)}. <a href="/sandbox/mail">Show all</a></p>`;
  if (messages.length === 0) return `${filter}<p>No mail yet. Reload this page once the journal has sent some.</p>`;
  return filter + messages.map(article).join('\n');
}

/** Shows only the plain text: HTML from a message could run scripts on the product's origin. */
function article(message: ReceivedMail): string {
  const query = new URLSearchParams({ to: message.to }).toString();
  return `<article>
<h2>${escapeHtml(message.subject)}</h2>
<p class="quiet">To <a href="/sandbox/mail?${escapeHtml(query)}">${escapeHtml(message.to)}</a>,
<time datetime="${message.at}">${message.at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<pre>${message.text.trimEnd().split(LINK).map(renderLinkOrText).join('')}</pre>
</article>`;
}

/** `split` with a group returns text at even and links at odd indexes. */
const renderLinkOrText = (part: string, index: number): string => {
  const escaped = escapeHtml(part);
  return index % 2 === 0 ? escaped : `<a href="${escaped}">${escaped}</a>`;
};

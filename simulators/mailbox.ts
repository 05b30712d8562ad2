/** The sandbox's mailbox: a mail server, its messages as JSON for scripts and tests, and a page for people. */
import { LINK, startMailServer } from './mailbox-server.ts';
import type { ReceivedMail } from './mailbox-server.ts';
import { escapeHtml, sandboxDocument } from './page.ts';

export type Mailbox = {
  readonly smtpUrl: string;
  /** Answers requests below `/sandbox/mail`; null for everything else. */
  handle(request: Request): Promise<Response | null>;
  /** Newest first; `to` is an address. */
  messagesTo(to: string): ReceivedMail[];
  /** Makes the mail server refuse the next messages with an SMTP reply code. */
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
      return new Response(sandboxDocument('Mail', inbox(messages, to)), { headers });
    },
  };
}

function inbox(messages: readonly ReceivedMail[], to: string | null): string {
  const whose = to === null ? '' : `<p class="quiet">To ${escapeHtml(to)}. <a href="/sandbox/mail">Show all</a></p>`;
  if (messages.length === 0) return `${whose}<p>No mail yet. Reload this page once the journal has sent some.</p>`;
  return whose + messages.map(article).join('\n');
}

/** Only the plain text is shown: HTML from a message has no place in a page on the product's own origin. */
function article(message: ReceivedMail): string {
  const query = new URLSearchParams({ to: message.to }).toString();
  return `<article>
<h2>${escapeHtml(message.subject)}</h2>
<p class="quiet">To <a href="/sandbox/mail?${escapeHtml(query)}">${escapeHtml(message.to)}</a>,
<time datetime="${message.at}">${message.at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<pre>${message.text.trimEnd().split(LINK).map(linkOrWords).join('')}</pre>
</article>`;
}

/** `split` with a group puts what matched at every second place. */
const linkOrWords = (part: string, index: number): string => {
  const words = escapeHtml(part);
  return index % 2 === 0 ? words : `<a href="${words}">${words}</a>`;
};

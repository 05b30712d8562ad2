/** The sandbox's mailbox: an SMTP server, its messages as JSON for scripts and tests, and an HTML page. */
import { escapeHtml, renderSandboxPage } from './page.ts';
import type { AddressInfo } from 'node:net';
import { callbackify } from 'node:util';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

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

const MAX_KEPT_MESSAGES = 500;
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Matches links in plain text. The group makes `split` keep the links. */
const LINK = /(https?:\/\/[^\s<>"]+)/;

/** The JSON format that docs/specification/sandbox-and-running.md 2 specifies for scripts and tests. */
export type ReceivedMail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Time of arrival, ISO 8601. */
  at: string;
  links: string[];
  /** Six digits alone on a line of the text; null if no line has them. */
  code: string | null;
};

export type MailServer = {
  readonly smtpUrl: string;
  /** Newest first. */
  messages(): readonly ReceivedMail[];
  clear(): void;
  /** Rejects the next `count` messages with an SMTP reply code: 4xx is temporary, 5xx permanent. */
  refuseNext(count: number, replyCode: number): void;
  close(): Promise<void>;
};

/** An SMTP server on loopback that accepts every message and keeps the newest ones in memory. */
async function startMailServer(): Promise<MailServer> {
  const messages: ReceivedMail[] = [];
  let refusals = 0;
  let refusalCode = 451;

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    if (refusals > 0) {
      refusals -= 1;
      throw Object.assign(new Error('refused by the sandbox'), { responseCode: refusalCode });
    }
    const parsed = await PostalMime.parse(Buffer.concat(chunks));
    const text = parsed.text ?? '';
    const at = new Date().toISOString();
    // The envelope, not the To header, determines the recipients.
    for (const { address } of session.envelope.rcptTo) {
      messages.unshift({
        to: address.toLowerCase(),
        subject: parsed.subject ?? '',
        text,
        html: parsed.html ?? '',
        at,
        links: text.split(LINK).filter((_, index) => index % 2 === 1),
        code: /^\s*(\d{6})\s*$/m.exec(text)?.[1] ?? null,
      });
    }
    messages.length = Math.min(messages.length, MAX_KEPT_MESSAGES);
    return 'Kept in the sandbox';
  }

  const server = new SMTPServer({
    authOptional: true,
    // Accepts any credentials.
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'sandbox' }),
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    size: MAX_MESSAGE_BYTES,
    logger: false,
    onData: callbackify(receive),
  });
  // Without a listener, a client that disconnects during a transaction would end the process.
  server.on('error', () => {});
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    messages: () => messages,
    clear: () => void messages.splice(0),
    refuseNext(count, replyCode) {
      refusals = count;
      refusalCode = replyCode;
    },
    close: () => new Promise((closed) => server.close(closed)),
  };
}

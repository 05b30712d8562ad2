/** The sandbox's mailbox: an SMTP server, its messages as JSON for scripts and tests, and an HTML page. */
import { MAIL_CLIENTS } from './mail-client/mail-clients.ts';
import { escapeHtml, renderSandboxPage } from './page.ts';
import type { AddressInfo } from 'node:net';
import { callbackify } from 'node:util';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

export type Mailbox = {
  readonly smtpUrl: string;
  /** Handles requests below `/sandbox/mail`. Returns null for other paths. */
  handle(request: Request): Promise<Response | null>;
  /** Newest first. */
  messages(): readonly ReceivedMail[];
  /** The messages to an address, newest first. */
  messagesTo(to: string): ReceivedMail[];
  /** Rejects the next `count` messages with an SMTP reply code. */
  refuseNext(count: number, replyCode: number): void;
  close(): Promise<void>;
};

/** Sends what a user has written in reply to a mail. Resolves with what the server said. */
export type SendReply = (mail: ReceivedMail, reply: { words: string; client: string; way: string }) => Promise<string>;

/** @param sendReply null: mails have no form to reply */
export async function startMailbox(sendReply: SendReply | null = null): Promise<Mailbox> {
  const server = await startMailServer();
  /** The server's answer to the last reply to a mail, by the mail's Message-ID. */
  const replies = new Map<string, string>();
  const messagesTo = (to: string): ReceivedMail[] =>
    server.messages().filter((message) => message.to === to.trim().toLowerCase());
  return {
    smtpUrl: server.smtpUrl,
    messages: server.messages,
    messagesTo,
    refuseNext: server.refuseNext,
    close: server.close,
    async handle(request) {
      const { pathname, searchParams } = new URL(request.url);
      const path = pathname.replace(/\/$/, '');
      const to = searchParams.get('to');
      const messages = to === null ? [...server.messages()] : messagesTo(to);
      if (path === '/sandbox/mail/messages') {
        if (request.method === 'DELETE') {
          server.clear();
          return new Response(null, { status: 204 });
        }
        return Response.json(messages, { headers: { 'Cache-Control': 'no-store' } });
      }
      if (path === '/sandbox/mail/reply' && request.method === 'POST' && sendReply !== null) {
        const form = new URLSearchParams(await request.text());
        const field = (name: string): string => form.get(name) ?? '';
        const mail = server.messages().find(({ messageId }) => messageId === field('id'));
        if (mail === undefined) return new Response('There is no such mail.', { status: 404 });
        const reply = { words: field('words').replaceAll('\r\n', '\n'), client: field('client'), way: field('way') };
        replies.set(
          mail.messageId,
          await sendReply(mail, reply).catch((error: unknown) => `Refused: ${(error as Error).message}`),
        );
        const target = `/sandbox/mail?${new URLSearchParams({ to: mail.to }).toString()}`;
        return new Response(null, { status: 303, headers: { Location: target } });
      }
      if (path !== '/sandbox/mail') return null;
      const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
      const page = inbox(messages, to, (mail) => (sendReply === null ? '' : replyForm(mail, replies)));
      return new Response(renderSandboxPage('Mail', page), { headers });
    },
  };
}

type RenderForm = (mail: ReceivedMail) => string;

function inbox(messages: readonly ReceivedMail[], to: string | null, form: RenderForm): string {
  const filter = to === null ? '' : `<p class="quiet">To ${escapeHtml(to)}. <a href="/sandbox/mail">Show all</a></p>`;
  if (messages.length === 0) return `${filter}<p>No mail yet. Reload this page once the journal has sent some.</p>`;
  return filter + messages.map((message) => article(message, form(message))).join('\n');
}

/** Shows only the plain text: HTML from a message could run scripts on the product's origin. */
function article(message: ReceivedMail, form: string): string {
  const query = new URLSearchParams({ to: message.to }).toString();
  return `<article>
<h2>${escapeHtml(message.subject)}</h2>
<p class="quiet">To <a href="/sandbox/mail?${escapeHtml(query)}">${escapeHtml(message.to)}</a>,
<time datetime="${message.at}">${message.at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<pre>${message.text.trimEnd().split(LINK).map(renderLinkOrText).join('')}</pre>
${form}</article>`;
}

/** A mail with Reply-To can be answered. */
function replyForm({ replyTo, messageId }: ReceivedMail, replies: ReadonlyMap<string, string>): string {
  if (replyTo === null) return '';
  const said = replies.get(messageId);
  const options = (names: readonly string[]): string =>
    names.map((name) => `<option>${escapeHtml(name)}</option>`).join('');
  return `<details>
<summary>Reply</summary>
<form method="post" action="/sandbox/mail/reply">
<input type="hidden" name="id" value="${escapeHtml(messageId)}">
<p><label>Your words<br><textarea name="words" rows="4" required></textarea></label></p>
<p><label>Written with <select name="client">${options(Object.keys(MAIL_CLIENTS))}</select></label>
<label>sent by <select name="way">${options(REPLY_WAYS)}</select></label></p>
<p><button type="submit">Send</button></p>
</form>
</details>
${said === undefined ? '' : `<p class="quiet">${escapeHtml(said)}</p>\n`}`;
}

/** How a reply travels: our own way, a webhook, or as a stranger would send it. */
const REPLY_WAYS = ['SMTP', 'Postmark', 'a stranger'] as const;

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
  /** The address of Reply-To; null without one. */
  replyTo: string | null;
  messageId: string;
  /** The keys are names in lower case. The last of several headers with one name wins. */
  headers: Record<string, string>;
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
        replyTo: parsed.replyTo?.[0]?.address ?? null,
        messageId: parsed.messageId ?? '',
        headers: Object.fromEntries(parsed.headers.map(({ key, value }) => [key, value])),
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

/** An SMTP server on loopback that accepts every message and keeps the newest ones in memory. */
import type { AddressInfo } from 'node:net';
import { callbackify } from 'node:util';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

const MAX_KEPT_MESSAGES = 500;
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Matches links in plain text. The group makes `split` keep the links. */
export const LINK = /(https?:\/\/[^\s<>"]+)/;

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

export async function startMailServer(): Promise<MailServer> {
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

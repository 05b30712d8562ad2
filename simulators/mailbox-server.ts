/** A mail server on loopback that accepts everything and keeps the newest messages in memory. */
import type { AddressInfo } from 'node:net';
import { callbackify } from 'node:util';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';

const KEPT_MESSAGES = 500;
const MESSAGE_LIMIT_BYTES = 10 * 1024 * 1024;

/** A link in plain text, as a group: `split` then keeps it. */
export const LINK = /(https?:\/\/[^\s<>"]+)/;

/** As decisions.md 8 promises it to scripts and tests. */
export type ReceivedMail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** When it arrived, ISO 8601. */
  at: string;
  links: string[];
  /** Six digits that stand alone on a line of the text. */
  code: string | null;
};

export type MailServer = {
  readonly smtpUrl: string;
  /** Newest first. */
  messages(): readonly ReceivedMail[];
  clear(): void;
  /** Answers the next `count` messages with this reply code instead of taking them: 4xx "later", 5xx "never". */
  refuseNext(count: number, replyCode: number): void;
  close(): Promise<void>;
};

export async function startMailServer(): Promise<MailServer> {
  const kept: ReceivedMail[] = [];
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
    // Who it is for is what the envelope says: that is where a mail really goes.
    for (const { address } of session.envelope.rcptTo) {
      kept.unshift({
        to: address.toLowerCase(),
        subject: parsed.subject ?? '',
        text,
        html: parsed.html ?? '',
        at,
        links: text.split(LINK).filter((_, index) => index % 2 === 1),
        code: /^\s*(\d{6})\s*$/m.exec(text)?.[1] ?? null,
      });
    }
    kept.length = Math.min(kept.length, KEPT_MESSAGES);
    return 'Kept in the sandbox';
  }

  const server = new SMTPServer({
    authOptional: true,
    // Any name and password will do.
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'sandbox' }),
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    size: MESSAGE_LIMIT_BYTES,
    logger: false,
    onData: callbackify(receive),
  });
  // A client that goes away in mid-sentence is the client's affair.
  server.on('error', () => {});
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    messages: () => kept,
    clear: () => void kept.splice(0),
    refuseNext(count, replyCode) {
      refusals = count;
      refusalCode = replyCode;
    },
    close: () => new Promise((closed) => server.close(closed)),
  };
}

/**
 * A provider of mailboxes: signs mails with DKIM for every domain, answers DNS for those domains, and delivers by SMTP
 * or as Postmark's webhook does. So a reply can be sent in the sandbox.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { freePort } from '#server/database/embedded/endpoint.ts';
import type { SendReply } from '../mailbox.ts';
import { MAIL_CLIENTS, writeReply } from './mail-clients.ts';
import { startDnsServer, type DnsAnswer, type DnsServer } from './dns-server.ts';

const SELECTOR = 'sandbox';

export type MailProvider = {
  readonly dns: DnsServer;
  /** Answers to questions for texts, by the name, before those of the provider itself. */
  readonly answers: Map<string, DnsAnswer>;
  /** The mail with the signature of a domain. Without `headerList` all usual headers are signed. */
  sign(raw: string, domain: string, options?: { maxBodyLength?: number; headerList?: string }): Promise<string>;
  close(): Promise<void>;
};

export async function startMailProvider(): Promise<MailProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const published = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const answers = new Map<string, DnsAnswer>();
  const dns = await startDnsServer((name, type) => {
    if (type !== 'TXT') return [];
    const answer = answers.get(name);
    if (answer !== undefined) return answer;
    if (name.startsWith(`${SELECTOR}._domainkey.`)) return [`v=DKIM1; k=ed25519; p=${published}`];
    return name.startsWith('_dmarc.') && name.split('.').length === 3 ? ['v=DMARC1; p=reject'] : null;
  });
  return {
    dns,
    answers,
    async sign(raw, domain, options) {
      // Loaded with the first reply: the sandbox starts without it.
      const { dkimSign } = await import('mailauth');
      const signature = {
        canonicalization: 'relaxed/relaxed',
        algorithm: 'ed25519-sha256',
        signingDomain: domain,
        selector: SELECTOR,
        privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
        ...options,
      };
      const { signatures, errors } = await dkimSign(raw, { ...signature, signatureData: [signature] });
      if (errors.length > 0) throw errors[0]!.err;
      return signatures + raw;
    },
    close: () => dns.close(),
  };
}

export type Envelope = { from: string; to: string };

/** A mail server with one connection to the port: the product greets each only after 100 ms, to detect early talkers. */
export function openSmtpClient(port: number, localAddress = '127.0.0.1') {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    localAddress,
    secure: false,
    ignoreTLS: true,
    pool: true,
    maxConnections: 1,
    maxMessages: Infinity,
  });
  return {
    /** @returns what the server said, such as `250 Received` @throws an error with `responseCode` if it refused */
    deliver: async (raw: string, envelope: Envelope): Promise<string> =>
      (await transport.sendMail({ envelope, raw })).response,
    close: () => transport.close(),
  };
}

/**
 * https://postmarkapp.com/developer/webhooks/inbound-webhook, the fields that a receiver of raw mails reads and some
 * more
 */
export async function deliverAsPostmark(url: string, password: string, raw: string, { from, to }: Envelope) {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Postmark',
      Authorization: `Basic ${Buffer.from(`postmark:${password}`).toString('base64')}`,
    },
    body: JSON.stringify({
      FromName: '',
      MessageStream: 'inbound',
      From: from,
      FromFull: { Email: from, Name: '', MailboxHash: '' },
      To: to,
      OriginalRecipient: to,
      MailboxHash: /\+([^@]*)@/.exec(to)?.[1] ?? '',
      MessageID: '73e6d360-66eb-11e1-8e72-a8904824019b',
      TextBody: '',
      HtmlBody: '',
      StrippedTextReply: '',
      RawEmail: raw,
      Headers: [],
      Attachments: [],
    }),
  });
}

const SANDBOX_PASSWORD = 'sandbox-postmark-password';
const SANDBOX_DOMAIN = 'reply.hustle-forge.example';

/** The settings of a product on this machine, and the sandbox's way to reply to its mails. */
export async function createReplies(publicUrl: string): Promise<{ settings: Record<string, string>; send: SendReply }> {
  const [provider, port] = await Promise.all([startMailProvider(), freePort()]);
  return {
    settings: {
      INBOUND_DOMAIN: SANDBOX_DOMAIN,
      INBOUND_SMTP_PORT: String(port),
      INBOUND_DNS: provider.dns.address,
      INBOUND_POSTMARK_PASSWORD: SANDBOX_PASSWORD,
    },
    async send(mail, { words, client, way }) {
      const isStranger = way === 'a stranger';
      const to = mail.replyTo ?? '';
      const original = { ...mail, from: mail.headers['from'] ?? '' };
      const raw = writeReply(Object.hasOwn(MAIL_CLIENTS, client) ? client : 'Gmail', {
        from: mail.to,
        to,
        words,
        original,
      });
      const domain = isStranger ? 'stranger.example' : mail.to.slice(mail.to.lastIndexOf('@') + 1);
      const signed = await provider.sign(raw, domain);
      if (way !== 'Postmark') {
        const smtp = openSmtpClient(port);
        return `The server said: ${await smtp.deliver(signed, { from: mail.to, to }).finally(smtp.close)}`;
      }
      const url = `${publicUrl}/functions/v1/inbound-mail/postmark`;
      const { status } = await deliverAsPostmark(url, SANDBOX_PASSWORD, signed, { from: mail.to, to });
      return `The webhook answered ${status}`;
    },
  };
}

/**
 * Receives mails by SMTP, where a setting says so (docs/operations.md, "Inbound mail"). It relays nothing: it takes
 * mails to addresses that carry a valid token and refuses every other recipient before the mail is sent.
 *
 * Threat: a stranger holds connections, sends slowly, sends much, or guesses addresses. Connections, their time, mails,
 * sizes and wrong recipients are bounded; of a mail that is too large nothing is kept.
 */
import { readFile } from 'node:fs/promises';
import { callbackify } from 'node:util';
import type { SMTPServer, SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Config } from '../config/config.ts';
import { redactRow } from '../database/database-error.ts';
import { networkPrefix } from '../http/client-address.ts';
import { RateLimiterMemory, isWithinLimit } from '../http/rate-limit-store.ts';
import { createRequestContext, runInRequestContext } from '../load/request-context.ts';
import type { Logger } from '../log.ts';
import { MAX_MAIL_BYTES, type Inbound, type Outcome } from './inbound.ts';

const MAX_CONNECTIONS = 50;
const MAX_CONNECTIONS_PER_NETWORK = 10;
/** Mail transactions of one network in a minute. A provider sends from several networks. */
const MAX_MAILS_PER_MINUTE = 120;
/** A connection is closed when it has named this many. */
const MAX_WRONG_RECIPIENTS = 5;
const MAX_RECIPIENTS = 5;
const IDLE_MS = 30_000;
/** The longest time of a connection: a server that sends 4 KB/s needs most of it for a megabyte. */
const MAX_CONNECTION_MS = 5 * 60_000;
/** A client that goes on sending after this is disconnected. */
const MAX_STREAMED_BYTES = 4 * MAX_MAIL_BYTES;
const CLOSE_MS = 3_000;

export type SmtpListener = { readonly port: number; close(): Promise<void> };
type Deps = { settings: SmtpSettings; domain: string; inbound: Inbound; log: Logger };
type SmtpSettings = NonNullable<NonNullable<Config['inbound']>['smtp']>;

/**
 * The reply of the server for each outcome; null: the mail is accepted. A refused mail is refused in the session, so
 * this server never sends a bounce.
 */
const REPLIES: Readonly<Record<Outcome, { code: number; text: string } | null>> = {
  stored: null,
  told: null,
  repeated: null,
  refused: { code: 550, text: '5.7.1 This mail is not accepted' },
  later: { code: 451, text: '4.3.0 Please try again later' },
};

const reply = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });

/** The state of a connection, by the id of its session. */
type Visit = { network: string; wrongRecipients: number; deadline: NodeJS.Timeout };

/** @throws if the port is taken or a certificate cannot be read */
export async function listenForMail({ settings, domain, inbound, log }: Deps): Promise<SmtpListener> {
  const { SMTPServer } = await import('smtp-server');
  const visits = new Map<string, Visit>();
  const mails = new RateLimiterMemory({ points: MAX_MAILS_PER_MINUTE, duration: 60 });
  const tls = settings.certificate && {
    cert: await readFile(settings.certificate.certFile),
    key: await readFile(settings.certificate.keyFile),
  };

  function disconnect(id: string): void {
    for (const connection of server.connections) if (connection.id === id) connection.close();
  }

  async function checkConnection(session: SMTPServerSession): Promise<void> {
    const network = networkPrefix(session.remoteAddress);
    const open = [...visits.values()].filter((visit) => visit.network === network).length;
    if (open >= MAX_CONNECTIONS_PER_NETWORK) throw reply(421, '4.7.0 Too many connections');
    const deadline = setTimeout(() => disconnect(session.id), MAX_CONNECTION_MS).unref();
    visits.set(session.id, { network, wrongRecipients: 0, deadline });
  }

  async function checkSender({ address }: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
    // Delivery reports have an empty sender, and must not be answered.
    if (address === '') throw reply(550, '5.7.1 Delivery reports are not accepted');
    if (!(await isWithinLimit(mails, visits.get(session.id)?.network ?? ''))) throw reply(451, '4.7.0 Too many mails');
  }

  async function checkRecipient({ address }: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
    if (session.envelope.rcptTo.length >= MAX_RECIPIENTS) throw reply(452, '4.5.3 Too many recipients');
    const isKnown = await inContext(session, () => inbound.isKnownAddress(address)).catch((error: unknown) => {
      log.warn(redactRow(error), 'an address of an inbound mail could not be looked up');
      throw reply(451, '4.3.0 Please try again later');
    });
    if (isKnown) return;
    const visit = visits.get(session.id);
    if (visit && (visit.wrongRecipients += 1) >= MAX_WRONG_RECIPIENTS) disconnect(session.id);
    throw reply(550, '5.1.1 No such address');
  }

  async function takeMail(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const refused = REPLIES[await receive(stream, session)];
    if (refused !== null) throw reply(refused.code, refused.text);
    return 'Received';
  }

  const server: SMTPServer = new SMTPServer({
    ...tls,
    onConnect: callbackify(checkConnection),
    onMailFrom: callbackify(checkSender),
    onRcptTo: callbackify(checkRecipient),
    onData: callbackify(takeMail),
    onClose(session) {
      clearTimeout(visits.get(session.id)?.deadline);
      visits.delete(session.id);
    },
    name: domain,
    banner: 'Hustle Forge',
    authOptional: true,
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: MAX_MAIL_BYTES,
    maxClients: MAX_CONNECTIONS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    // The library's log lines would contain addresses.
    logger: false,
  });
  // Without a listener, an error of a client's connection would end the process.
  server.on('error', (error) => log.debug({ err: error }, 'an SMTP connection failed'));

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Outcome> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_MAIL_BYTES) chunks.length = 0;
      else chunks.push(chunk);
      if (length > MAX_STREAMED_BYTES) disconnect(session.id);
    }
    if (length > MAX_MAIL_BYTES) throw reply(552, '5.3.4 This mail is too large');
    const { mailFrom, rcptTo } = session.envelope;
    return inContext(session, () =>
      inbound.receive({
        raw: Buffer.concat(chunks),
        recipients: rcptTo.map(({ address }) => address),
        arrival: {
          ip: session.remoteAddress,
          helo: session.hostNameAppearsAs,
          mailFrom: mailFrom === false ? '' : mailFrom.address,
        },
      }),
    );
  }

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(settings.port, settings.host, () => {
      server.server.off('error', reject);
      resolve();
    });
  });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  log.info({ host: settings.host, port, tls: tls !== null }, 'receiving mail');
  let closing: Promise<void> | null = null;
  return { port, close: () => (closing ??= new Promise((closed) => server.close(closed))) };
}

/** Runs `work` in a request context with the client's network, among which the limiters share the server. */
const inContext = <Result>({ remoteAddress }: SMTPServerSession, work: () => Result): Result =>
  runInRequestContext(createRequestContext(networkPrefix(remoteAddress)), work);

/**
 * Sends mail over SMTP from an in-memory queue, so no request waits for the mail server. Threat: response times must
 * not reveal whether an address has an account.
 *
 * The queue is best effort: a mail that is unsent when the process ends is lost. The user can request another link or
 * code. Mail that must not be lost is sent by a job that retries `deliver`. Log lines contain neither addresses nor
 * text.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#server/log.ts';
import type { Secret } from '#server/config/settings-reader.ts';
import { NO_EVENTS, type EventCounters } from '#server/metrics/events.ts';
import type { Tracing } from '#server/tracing.ts';
import type { MailMessage } from './email-template.ts';

const MAX_QUEUED = 1_000;
const MAX_CONNECTIONS = 2;
/** Connections for the mails that many users get at the same hour. Codes to sign in never wait behind these. */
export const MAX_BULK_CONNECTIONS = 8;
const TIMEOUT_MS = 10_000;
/** Bounds shutdown when the mail server does not respond. */
const CLOSE_LIMIT_MS = 8_000;
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000];

export interface Mailer {
  /** False without SMTP_URL: no mail ever leaves. */
  readonly isSetUp: boolean;
  /** Queues a mail and returns at once. */
  send(message: MailMessage): void;
  /**
   * Runs work, which may send mail, outside of the current request, so that the response time reveals nothing. Failures
   * are logged; the user can request the mail again.
   */
  prepare(work: () => Promise<void>): void;
  /**
   * Resolves once the mail server has accepted the mail. The calling job retries. Only a mail whose connection ended is
   * repeated here, by the connection pool.
   * @throws MailRejected, or MailDeferred when a retry may succeed
   */
  deliver(message: MailMessage): Promise<void>;
  /** As `deliver`, over connections of its own, and never repeats a mail whose answer is missing. */
  deliverBulk(message: MailMessage): Promise<void>;
  /** The number of mails of `send` and tasks of `prepare` in progress. */
  queued(): number;
  /** Tries each queued mail at most once more, for at most `CLOSE_LIMIT_MS`, and closes the connections. */
  close(): Promise<void>;
}

/** A permanent failure (5xx) for this recipient or content. */
export class MailRejected extends Error {}
/** A later attempt may succeed: no mail server, no response, a 4xx reply, or a 5xx reply about our login or sender. */
export class MailDeferred extends Error {
  /** The mail server may have taken the mail although its answer is missing, so a repetition may be a second mail. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, { mayHaveArrived = false } = {}) {
    super(message);
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** `tls`: false sends without encryption to a relay on a private network. */
type MailConfig = { readonly smtpUrl: Secret | null; readonly from: string; readonly tls: boolean };

type MailerOptions = {
  /** The delay after each failed attempt. */
  retryDelaysMs?: readonly number[];
  events?: Pick<EventCounters, 'mail'>;
  traceMail?: Tracing['traceMail'] | undefined;
};

export function createMailer(config: MailConfig, log: Logger, options: MailerOptions = {}): Mailer {
  const { retryDelaysMs = RETRY_DELAYS_MS, events = NO_EVENTS, traceMail = (_host, work) => work() } = options;
  if (config.smtpUrl === null) {
    const drop = (): void => {
      log.warn({ mail: 'not_set_up' }, 'mail dropped: SMTP_URL is not set');
      events.mail('dropped');
    };
    const refuse = (): Promise<void> => Promise.reject(new MailDeferred('SMTP_URL is not set'));
    return {
      isSetUp: false,
      send: drop,
      prepare: drop,
      deliver: refuse,
      deliverBulk: refuse,
      queued: () => 0,
      close: async () => {},
    };
  }
  const { smtpUrl, tls } = config;
  const { host } = connectionOf(smtpUrl, tls);
  // Nodemailer is loaded lazily: it takes ten megabytes, and most servers send few mails.
  const connecting: { single: ReturnType<typeof connect> | null; bulk: ReturnType<typeof connect> | null } = {
    single: null,
    bulk: null,
  };
  const closing = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let isClosed = false;

  async function sendOnce(message: MailMessage, pool: keyof typeof connecting = 'single'): Promise<void> {
    const transport = await (connecting[pool] ??= connect(smtpUrl, tls, pool));
    const mail = {
      ...message,
      from: config.from,
      to: { name: '', address: message.to },
      headers: { ...HEADERS, ...message.headers },
    };
    await traceMail(host, () => transport.sendMail(mail));
  }

  async function deliver(message: MailMessage, pool: keyof typeof connecting = 'single'): Promise<void> {
    // Nodemailer's error quotes the address, and jobs log what they catch. So it is never rethrown.
    const failure = await sendOnce(message, pool).then(
      () => null,
      (error: unknown) => error as SmtpFailure,
    );
    if (failure === null) {
      // A bulk job logs the number of its mails, which may be thousands, so each is logged at debug level only.
      log[pool === 'bulk' ? 'debug' : 'info']({ mail: 'sent' }, 'mail sent');
      events.mail('sent');
      return;
    }
    const { code, responseCode, command, syscall } = failure;
    // Other 5xx replies concern our configuration (credentials, sender), which the operator can fix.
    const isRefused = isFinal(responseCode) && (command === 'RCPT TO' || command === 'DATA');
    log.warn({ mail: isRefused ? 'refused' : 'not_taken', code, responseCode, command }, 'mail not accepted');
    events.mail(isRefused ? 'rejected' : 'deferred');
    throw isRefused
      ? new MailRejected('the mail server rejected the mail')
      : new MailDeferred('the mail server deferred the mail', {
          mayHaveArrived: responseCode === undefined && syscall !== 'connect' && code !== 'EDNS',
        });
  }

  async function sendWithRetries(message: MailMessage): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await sendOnce(message);
        log.info({ mail: 'sent', attempt }, 'mail sent');
        events.mail('sent');
        return;
      } catch (error) {
        const wait = retryDelaysMs[attempt];
        const { code, responseCode } = error as SmtpFailure;
        if (wait === undefined || isFinal(responseCode) || closing.signal.aborted) {
          log.error({ mail: 'failed', attempt, code, responseCode }, 'mail could not be sent');
          events.mail('failed');
          return;
        }
        log.warn({ mail: 'retrying', attempt, code, responseCode }, 'mail not accepted yet');
        events.mail('retrying');
        await delay(wait, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  function queue(work: () => Promise<void>): void {
    if (isClosed || inFlight.size >= MAX_QUEUED) {
      log.error({ mail: 'dropped', queued: inFlight.size }, 'mail dropped: the queue is full or closed');
      events.mail('dropped');
      return;
    }
    const task = nextTurn()
      .then(work)
      .catch((error: unknown) => log.error({ err: error, mail: 'not_prepared' }, 'mail could not be prepared'))
      .finally(() => inFlight.delete(task));
    inFlight.add(task);
  }

  return {
    isSetUp: true,
    send: (message) => queue(() => sendWithRetries(message)),
    prepare: queue,
    deliver: (message) => deliver(message),
    deliverBulk: (message) => deliver(message, 'bulk'),
    queued: () => inFlight.size,
    async close() {
      closing.abort();
      // Prepared work may still queue mail, so loop until the queue is empty.
      const allSent = async (): Promise<void> => {
        while (inFlight.size > 0) await Promise.all(inFlight);
      };
      await Promise.race([allSent(), delay(CLOSE_LIMIT_MS, undefined, { ref: false })]);
      isClosed = true;
      for (const pool of Object.values(connecting)) (await pool)?.close();
    },
  };
}

/** Connects, logs in and leaves. @throws the error of the mail server or of the connection */
export async function greetMailServer(smtpUrl: Secret, tls: boolean): Promise<void> {
  const transport = await connect(smtpUrl, tls, 'single');
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

type SmtpFailure = { code?: string; responseCode?: number; command?: string; syscall?: string };

/** Suppresses automatic replies (RFC 3834). */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

/** 5xx is permanent; 4xx, timeouts and lost connections are temporary. */
const isFinal = (responseCode: number | undefined): boolean => responseCode !== undefined && responseCode >= 500;

async function connect(smtpUrl: Secret, tls: boolean, pool: 'single' | 'bulk') {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    ...connectionOf(smtpUrl, tls),
    pool: true,
    // A pool repeats a mail whose connection ended. The mail may have arrived, so a bulk mail, such as a reminder, is
    // not repeated.
    ...(pool === 'bulk'
      ? { maxConnections: MAX_BULK_CONNECTIONS, maxRequeues: 0 }
      : { maxConnections: MAX_CONNECTIONS }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Threat: message content must never make nodemailer read files or fetch URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Parses the URL here, because nodemailer ignores other options next to a URL. */
function connectionOf(smtpUrl: Secret, tls: boolean) {
  const url = new URL(smtpUrl.reveal());
  const secure = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const isLocal = url.hostname === 'localhost' || url.hostname === '127.0.0.1' || url.hostname === '[::1]';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Threat: a network that strips STARTTLS would read every recovery link.
    requireTLS: !secure && !isLocal && tls,
    ignoreTLS: !secure && (isLocal || !tls),
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
  };
}

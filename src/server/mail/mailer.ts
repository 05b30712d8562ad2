/**
 * Mail leaves through SMTP from a queue in this process, so that no request waits for somebody else's server and no
 * answer takes longer for an address that has an account.
 *
 * Links and codes expire within the hour: one that cannot leave is lost when the process ends, and its owner asks for
 * another. What must not be lost is kept by a job until the mail server has taken it (`deliver`). The log says what
 * happened to each, without the address or the words.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#server/log.ts';
import type { Secret } from '#server/secret.ts';
import type { MailMessage } from './mail-message.ts';

const QUEUE_LIMIT = 1_000;
const CONNECTIONS = 2;
const TIMEOUT_MS = 10_000;
/** A mail server that does not answer must not keep the process from ending. */
const CLOSE_LIMIT_MS = 8_000;
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000];

export interface Mailer {
  /** Queues a mail and returns at once. */
  send(message: MailMessage): void;
  /**
   * Does work that ends in mails, or in none, after the present request has been answered: its time tells nothing.
   * A failure is logged; the person asks again.
   */
  prepare(work: () => Promise<void>): void;
  /**
   * Resolves when the mail server has taken the mail, so that a job may note it. One try: the job comes again.
   * @throws MailRejected, or MailDeferred when another try may help
   */
  deliver(message: MailMessage): Promise<void>;
  /** Sends what is queued, without further retries, and closes the connections. */
  close(): Promise<void>;
}

/** The mail server will never take this mail: no such address, or it does not like what it says. */
export class MailRejected extends Error {}
/** No mail server, none that answers, or one that says "later". */
export class MailDeferred extends Error {}

type MailConfig = { readonly smtpUrl: Secret | null; readonly from: string };

/** @param retryDelaysMs how long to wait after each try that was not the last */
export function createMailer(config: MailConfig, log: Logger, retryDelaysMs = RETRY_DELAYS_MS): Mailer {
  if (config.smtpUrl === null) {
    const drop = (): void => log.warn({ mail: 'not_set_up' }, 'mail dropped: SMTP_URL is not set');
    const refuse = (): Promise<void> => Promise.reject(new MailDeferred('SMTP_URL is not set'));
    return { send: drop, prepare: drop, deliver: refuse, close: async () => {} };
  }
  const { smtpUrl } = config;
  // Loaded with the first mail: it takes ten megabytes, and most servers send a few mails a day.
  let connecting: ReturnType<typeof connect> | null = null;
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  let closed = false;

  async function hand(message: MailMessage): Promise<void> {
    const transport = await (connecting ??= connect(smtpUrl));
    await transport.sendMail({ ...message, from: config.from, to: { name: '', address: message.to }, headers });
  }

  async function deliver(message: MailMessage): Promise<void> {
    // The driver's own error quotes the address, and jobs log what they catch.
    const failure = await hand(message).then(
      () => null,
      (error: unknown) => error as SmtpFailure,
    );
    if (failure === null) {
      log.info({ mail: 'sent' }, 'mail sent');
      return;
    }
    const { code, responseCode, command } = failure;
    // Any other refusal is about us: a password, a sender. Somebody sets it right.
    const refused = isFinal(responseCode) && (command === 'RCPT TO' || command === 'DATA');
    log.warn({ mail: refused ? 'refused' : 'not_taken', code, responseCode, command }, 'mail not accepted');
    throw refused
      ? new MailRejected('the mail server refused it for good')
      : new MailDeferred('the mail server did not take it');
  }

  async function sendWithRetries(message: MailMessage): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await hand(message);
        log.info({ mail: 'sent', attempt }, 'mail sent');
        return;
      } catch (error) {
        const wait = retryDelaysMs[attempt];
        const { code, responseCode } = error as SmtpFailure;
        if (wait === undefined || isFinal(responseCode) || closing.signal.aborted) {
          log.error({ mail: 'failed', attempt, code, responseCode }, 'mail could not be sent');
          return;
        }
        log.warn({ mail: 'retrying', attempt, code, responseCode }, 'mail not accepted yet');
        await delay(wait, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  function queue(work: () => Promise<void>): void {
    if (closed || underWay.size >= QUEUE_LIMIT) {
      log.error({ mail: 'dropped', queued: underWay.size }, 'mail dropped: the queue is full or closed');
      return;
    }
    const task = nextTurn()
      .then(work)
      .catch((error: unknown) => log.error({ err: error, mail: 'not_prepared' }, 'mail could not be prepared'))
      .finally(() => underWay.delete(task));
    underWay.add(task);
  }

  return {
    send: (message) => queue(() => sendWithRetries(message)),
    prepare: queue,
    deliver,
    async close() {
      closing.abort();
      // Work that is prepared may still send; what it sends is waited for as well.
      const allSent = async (): Promise<void> => {
        while (underWay.size > 0) await Promise.all(underWay);
      };
      await Promise.race([allSent(), delay(CLOSE_LIMIT_MS, undefined, { ref: false })]);
      closed = true;
      (await connecting)?.close();
    },
  };
}

type SmtpFailure = { code?: string; responseCode?: number; command?: string };

/** Asks vacation replies and the like to keep quiet (RFC 3834). */
const headers = { 'Auto-Submitted': 'auto-generated' };

/** 5xx is the other server's last word; 4xx, time-outs and lost connections are not. */
const isFinal = (responseCode: number | undefined): boolean => responseCode !== undefined && responseCode >= 500;

async function connect(smtpUrl: Secret) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    ...connectionOf(smtpUrl),
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // A message of ours never names a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The address is taken apart here, because nodemailer ignores other options beside a URL. */
function connectionOf(smtpUrl: Secret) {
  const url = new URL(smtpUrl.reveal());
  const secure = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const isLocal = url.hostname === 'localhost' || url.hostname === '127.0.0.1' || url.hostname === '[::1]';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Threat: a network that strips STARTTLS would read every recovery link.
    requireTLS: !secure && !isLocal,
    ignoreTLS: !secure && isLocal,
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
  };
}

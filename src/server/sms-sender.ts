/**
 * Sends text messages with Twilio's Messaging API (`POST /2010-04-01/Accounts/{AccountSid}/Messages.json`).
 *
 * One attempt without a retry: the API has no idempotency key, so a retry after a lost answer could send a text twice.
 * Log lines contain neither numbers nor texts.
 */
import type { SmsSettings } from '#server/config/auth-settings.ts';
import type { Logger } from '#server/log.ts';
import { NO_EVENTS, type EventCounters } from '#server/metrics/events.ts';
import { parseJson, readResponseText } from '#server/parse-json.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export type SmsMessage = {
  /** The recipient in E.164 form, with its plus sign. */
  to: string;
  text: string;
};

export interface SmsSender {
  /**
   * Resolves once the provider has accepted the text; it may still fail to arrive.
   *
   * @throws SmsError
   */
  send(message: SmsMessage): Promise<void>;
}

/**
 * `bad_number`, `opted_out` and `blocked_country` concern the recipient. `misconfigured` concerns our credentials or
 * our sender. `rejected` is any other 4xx status. `overloaded` and `unavailable` pass with time.
 */
export type SmsFailure =
  | 'bad_number'
  | 'opted_out'
  | 'blocked_country'
  | 'rejected'
  | 'misconfigured'
  | 'overloaded'
  | 'unavailable';

export class SmsError extends Error {
  readonly reason: SmsFailure;

  constructor(reason: SmsFailure) {
    super(`the text was not sent: ${reason}`);
    this.name = 'SmsError';
    this.reason = reason;
  }
}

export function createSmsSender(
  settings: SmsSettings,
  log: Logger,
  events: Pick<EventCounters, 'text'> = NO_EVENTS,
): SmsSender {
  const { accountSid, apiBase, authToken, from } = settings;
  const url = `${apiBase}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`;
  const credentials = Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64');
  const sender: [string, string] = /^MG[0-9a-f]{32}$/i.test(from) ? ['MessagingServiceSid', from] : ['From', from];

  return {
    async send({ to, text }) {
      const { status, code } = await post(url, {
        headers: { Accept: 'application/json', Authorization: `Basic ${credentials}` },
        body: new URLSearchParams([['To', to], sender, ['Body', text]]),
      });
      if (status === 201) {
        log.info({ sms: 'sent' }, 'text sent');
        events.text('sent');
        return;
      }
      const reason = failureOf(status, code);
      events.text(reason);
      const fields = { sms: 'failed', reason, status, code };
      if (reason === 'misconfigured') log.error(fields, 'text rejected: check the SMS_* settings');
      else log.warn(fields, 'text not sent');
      throw new SmsError(reason);
    },
  };
}

/** `status` is 0 without a complete response; `code` is Twilio's error code. */
type Answer = { status: number; code: number | null };

async function post(url: string, request: { headers: Record<string, string>; body: URLSearchParams }): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      ...request,
      // Threat: the credentials would follow a redirect to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const json = parseJson(await readResponseText(response, MAX_ANSWER_BYTES));
    return { status: response.status, code: errorCodeOf(json) };
  } catch {
    return { status: 0, code: null };
  }
}

function errorCodeOf(json: unknown): number | null {
  const code = typeof json === 'object' && json !== null && 'code' in json ? json.code : null;
  return typeof code === 'number' && Number.isSafeInteger(code) ? code : null;
}

/** Failures by Twilio's error codes (https://www.twilio.com/docs/api/errors). */
const FAILURES: ReadonlyMap<number, SmsFailure> = new Map([
  [20003, 'misconfigured'],
  [20404, 'misconfigured'],
  [21212, 'misconfigured'],
  [21606, 'misconfigured'],
  [21211, 'bad_number'],
  [21614, 'bad_number'],
  [21408, 'blocked_country'],
  [21610, 'opted_out'],
  [20429, 'overloaded'],
]);

function failureOf(status: number, code: number | null): SmsFailure {
  const known = code === null ? undefined : FAILURES.get(code);
  if (known !== undefined) return known;
  if (status === 401 || status === 403 || status === 404) return 'misconfigured';
  if (status === 429) return 'overloaded';
  return status >= 400 && status < 500 ? 'rejected' : 'unavailable';
}

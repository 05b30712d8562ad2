/**
 * Sends one HTTP request to PayPal and classifies the response. Size and time are limited and redirects are refused
 * (threat: the secret or the token would follow them elsewhere). A gateway's HTML page or an empty body is a response
 * too.
 */
import type { Clock } from '../../clock.ts';
import { singleFlight } from '../../load/single-flight.ts';
import { parseJson, readResponseText } from '../../parse-json.ts';
import { textAt, valueAt } from './parse.ts';
import { PaypalError } from './paypal.ts';

const MAX_ANSWER_BYTES = 512 * 1024;

type PaypalRequest = {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
};

export type Answer = {
  /** 0: no complete response. `trouble` says why. */
  readonly status: number;
  readonly trouble?: unknown;
  /** undefined when the body is not JSON. */
  readonly json: unknown;
  readonly debugId: string | null;
  readonly retryAfterMs: number | null;
};

/** Never rejects: a missing response is an answer with status 0. */
export async function sendRequest(
  { url, method, headers, body, timeoutMs }: PaypalRequest,
  fetchUrl: typeof fetch,
): Promise<Answer> {
  try {
    const response = await fetchUrl(url, {
      method,
      headers: { Accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await readResponseText(response, MAX_ANSWER_BYTES);
    return {
      status: response.status,
      json: parseJson(text),
      debugId: safeWord(response.headers.get('paypal-debug-id')),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    };
  } catch (trouble) {
    return { status: 0, trouble, json: undefined, debugId: null, retryAfterMs: null };
  }
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

/**
 * The error for an unsuccessful answer.
 * @param lostBefore an earlier try of the same call ended with an unknown outcome, which a retryable answer (such as
 *   429) does not resolve
 */
export function failureOf(answer: Answer, method: 'GET' | 'POST', lostBefore: boolean): PaypalError {
  const { status, json, debugId, trouble } = answer;
  const issue = safeWord(textAt(json, 'details', 0, 'issue'));
  const isInProgress = status === 409 || issue === 'ORDER_COMPLETION_IN_PROGRESS';
  // 401 and 403 concern our credentials, not the payment: the call works once the settings are right.
  const retryable = isInProgress || status === 0 || status >= 500 || [401, 403, 408, 425, 429].includes(status);
  const isLost = isInProgress || status < 400 || status >= 500 || status === 408;
  return new PaypalError(
    {
      status,
      name: safeWord(textAt(json, 'name')) ?? safeWord(textAt(json, 'error')) ?? nameOf(answer),
      issue,
      retryable,
      outcomeUnknown: method === 'POST' && (isLost || (lostBefore && retryable)),
      debugId: debugId ?? safeWord(textAt(json, 'debug_id')),
      retryAfterMs: answer.retryAfterMs,
    },
    trouble === undefined ? undefined : { cause: trouble },
  );
}

/** PayPal reported success in a form that cannot be parsed: a POST may have taken effect. */
export const malformedAnswerError = (answer: Answer, method: 'GET' | 'POST'): PaypalError =>
  new PaypalError({
    status: answer.status,
    name: 'MALFORMED_ANSWER',
    issue: null,
    retryable: true,
    outcomeUnknown: method === 'POST',
    debugId: answer.debugId,
    retryAfterMs: null,
  });

function nameOf({ status, trouble }: Answer): string {
  if (status === 0)
    return trouble instanceof Error && trouble.name === 'TimeoutError' ? 'NO_ANSWER_IN_TIME' : 'NO_ANSWER';
  if (status < 400) return 'REDIRECTED';
  return status >= 500 ? 'GATEWAY_FAILURE' : `HTTP_${status}`;
}

/** Names, issues and debug ids are single words. Anything else stays out of logs and messages. */
const safeWord = (text: string | null): string | null =>
  text !== null && /^[A-Za-z0-9_.-]{1,100}$/.test(text) ? text : null;

/** Parses a `Retry-After` header: seconds or a date (RFC 9110 section 10.2.3). */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

// PayPal's access token: fetched single-flight and cached until shortly before it expires.

/** Keeps a token from expiring in flight. */
const MARGIN_MS = 60_000;

type AccessToken = {
  get(): Promise<string>;
  /** Forgets a token that PayPal rejected. A newer token, fetched by another call, stays cached. */
  drop(token: string): void;
};

/**
 * `fetchToken` requests a token from PayPal and rejects on failure. `refuse` makes the error for an unusable answer.
 */
export function createAccessToken(deps: {
  clock: Clock;
  fetchToken: () => Promise<Answer>;
  refuse: (answer: Answer) => Error;
}): AccessToken {
  const { clock, fetchToken, refuse } = deps;
  let held: { token: string; endsAt: number } | null = null;

  const renew = singleFlight(async () => {
    const answer = await fetchToken();
    const token = textAt(answer.json, 'access_token');
    const seconds = valueAt(answer.json, 'expires_in');
    // Printable ASCII only, because it becomes a header.
    if (token === null || !/^[\x21-\x7e]+$/.test(token) || typeof seconds !== 'number') throw refuse(answer);
    held = { token, endsAt: clock.now().getTime() + seconds * 1000 - MARGIN_MS };
    return token;
  });

  return {
    get() {
      if (held && clock.now().getTime() < held.endsAt) return Promise.resolve(held.token);
      return renew();
    },
    drop(token) {
      if (held?.token === token) held = null;
    },
  };
}

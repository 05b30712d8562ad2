/**
 * Maps a provider's failure to one of the five classes of docs/specification/coach.md 8 and decides on a retry. Codes
 * and types take precedence over the status. Messages do not count for the class: they change, and they can quote the
 * request.
 */
import type { AnalysisProblem } from '#domain/coach/coach.ts';
import { isObject } from '../../parse-json.ts';

/** A failed call, extracted from the error that the library threw. */
export type Failure = {
  /** HTTP status; null if no response arrived. */
  status: number | null;
  /** The provider's codes: Google's `status` and `reason`, Anthropic's `type`, OpenAI's `code` and `type`. */
  codes: readonly string[];
  /** The delay that the provider asks for. */
  delayMs: number | null;
  /** A daily quota is used up. */
  perDay: boolean;
  /** The response violates the protocol or is too long. */
  malformed: boolean;
};

export type Verdict = { problem: AnalysisProblem; mayRetry: boolean };

const PROBLEM_BY_CODE: ReadonlyMap<string, AnalysisProblem> = new Map(
  Object.entries({
    // Google. An invalid key yields status INVALID_ARGUMENT with the reason API_KEY_INVALID; reasons are checked first.
    API_KEY_INVALID: 'configuration',
    API_KEY_SERVICE_BLOCKED: 'configuration',
    SERVICE_DISABLED: 'configuration',
    BILLING_DISABLED: 'configuration',
    PERMISSION_DENIED: 'configuration',
    UNAUTHENTICATED: 'configuration',
    FAILED_PRECONDITION: 'configuration',
    INVALID_ARGUMENT: 'configuration',
    NOT_FOUND: 'configuration',
    RESOURCE_EXHAUSTED: 'rate',
    // The provider is down or overloaded; no limit of ours was reached.
    UNAVAILABLE: 'network',
    INTERNAL: 'network',
    DEADLINE_EXCEEDED: 'network',
    CANCELLED: 'network',
    // Anthropic
    authentication_error: 'configuration',
    permission_error: 'configuration',
    billing_error: 'configuration',
    not_found_error: 'configuration',
    rate_limit_error: 'rate',
    overloaded_error: 'network',
    timeout_error: 'network',
    request_too_large: 'general',
    // OpenAI and compatible endpoints. `insufficient_quota` means that the account has no credit left: only the
    // operator can fix it.
    insufficient_quota: 'configuration',
    invalid_api_key: 'configuration',
    model_not_found: 'configuration',
    rate_limit_exceeded: 'rate',
    context_length_exceeded: 'general',
    exceed_context_size_error: 'general',
    content_filter: 'general',
    content_policy_violation: 'general',
    invalid_prompt: 'general',
    // Groq: the model's answer is no JSON.
    json_validate_failed: 'format',
  } satisfies Record<string, AnalysisProblem>),
);

function problemByStatus(status: number | null): AnalysisProblem {
  if (status === null) return 'network';
  if (status === 429) return 'rate';
  if (status === 413) return 'general';
  // 498: Groq has no capacity.
  if (status === 408 || status === 498 || status === 499 || status >= 500) return 'network';
  // Includes redirects: the configured address is wrong.
  return status >= 300 ? 'configuration' : 'general';
}

export function classifyFailure({ status, codes, perDay, malformed }: Failure): Verdict {
  if (malformed) return { problem: 'format', mayRetry: false };
  const byCode = codes.map((code) => PROBLEM_BY_CODE.get(code)).find((problem) => problem !== undefined);
  const problem = byCode ?? problemByStatus(status);
  return { problem, mayRetry: (problem === 'rate' || problem === 'network') && !perDay };
}

/** Threat: an endpoint sends thousands of codes and floods the server's log, which contains them. */
const MAX_CODES = 8;

/** Accepts only identifiers without spaces, so that no sentence of the journal can pass as a code. */
export const isCode = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z][\w.-]{1,80}$/.test(value);

/** Reads an error body in the formats of Google, Anthropic, OpenAI and OpenRouter. Google may wrap it in an array. */
export function readErrorBody(body: unknown): Pick<Failure, 'codes' | 'delayMs' | 'perDay'> {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) && isObject(outer['error']) ? outer['error'] : isObject(outer) ? outer : {};
  const details = (Array.isArray(error['details']) ? error['details'] : []).filter(isObject);
  const metadata = isObject(error['metadata']) ? error['metadata'] : {};
  // OpenRouter names no code for a text that its moderation refuses.
  const moderation = 'flagged_input' in metadata ? 'content_filter' : null;
  const reasons = details.map((detail) => detail['reason']);
  const codes = [...reasons, moderation, error['code'], error['type'], error['status']];
  const { headers } = metadata;
  const delays = [
    ...details.map((detail) => durationMs(detail['retryDelay'])),
    isObject(headers) ? headerDelayMs(headers, 429) : null,
  ].filter((delay) => delay !== null);
  return {
    codes: codes.filter(isCode).slice(0, MAX_CODES),
    delayMs: delays.length > 0 ? Math.max(...delays) : null,
    perDay: details.some(namesDailyQuota),
  };
}

function namesDailyQuota(detail: Record<string, unknown>): boolean {
  const violations = Array.isArray(detail['violations']) ? detail['violations'] : [];
  return violations.some((violation) => isObject(violation) && /PerDay/i.test(String(violation['quotaId'])));
}

const DURATION =
  /^(?:(\d{1,4})d)?(?:(\d{1,5})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d+)?)s)?(?:(\d{1,12}(?:\.\d+)?)ms)?$/;
const UNIT_MS = [86_400_000, 3_600_000, 60_000, 1_000, 1];

/** Parses a duration such as `37s`, `1.5s`, `6m0s` or `12ms`. */
function durationMs(text: unknown): number | null {
  const parts = typeof text === 'string' && text !== '' ? DURATION.exec(text)?.slice(1) : undefined;
  return parts ? Math.ceil(parts.reduce((ms, part, unit) => ms + Number(part ?? 0) * UNIT_MS[unit]!, 0)) : null;
}

/** The values may have any type, because OpenRouter quotes headers in a JSON body. */
type Headers = Readonly<Record<string, unknown>>;
const NUMBER = /^\d{1,12}(?:\.\d+)?$/;
const MAX_SECONDS = 1e9;
const MAX_EPOCH_SECONDS = 1e11;

/**
 * Parses seconds, a duration, or a point in time: a date, or seconds or milliseconds since the epoch. The delay until a
 * point in time is counted from the response's `date` header.
 */
function delayUntilMs(value: string, { date = '' }: Record<string, string>): number | null {
  const number = /^\d{1,15}(?:\.\d+)?$/.test(value) ? Number(value) : null;
  if (number !== null && number < MAX_SECONDS) return Math.ceil(number * 1000);
  if (number === null && !/[a-z]/i.test(value)) return null;
  const time = number === null ? Date.parse(value) : number < MAX_EPOCH_SECONDS ? number * 1000 : number;
  const delayMs = durationMs(value) ?? time - Date.parse(date);
  return Number.isNaN(delayMs) ? null : Math.max(0, delayMs);
}

/**
 * Reads `retry-after-ms` and `retry-after`. A 429 without them may say when its limits are reset: OpenAI, Groq, Azure
 * and Cerebras in `x-ratelimit-reset-…`, Anthropic in `anthropic-ratelimit-…-reset`, others in `ratelimit`. The limit
 * that is reset last counts. If some limits have nothing remaining, only these are compared.
 */
export function headerDelayMs(received: Headers | undefined, status: number | null): number | null {
  const headers = Object.fromEntries(
    Object.entries(received ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]),
  );
  const ms = headers['retry-after-ms'];
  if (ms !== undefined && NUMBER.test(ms)) return Math.ceil(Number(ms));
  const after = headers['retry-after'];
  if (after !== undefined) return delayUntilMs(after, headers);
  if (status !== 429) return null;
  const limits = Object.entries(headers).flatMap(([name, value]) => {
    const reset =
      name === 'ratelimit' ? /;\s*t=(\d{1,9})/.exec(value)?.[1] : /ratelimit.*reset/.test(name) ? value : undefined;
    const delayMs = reset === undefined ? null : delayUntilMs(reset, headers);
    return delayMs === null
      ? []
      : [{ delayMs, isUsedUp: Number(headers[name.replace('reset', 'remaining')] || 1) === 0 }];
  });
  const usedUp = limits.filter(({ isUsedUp }) => isUsedUp);
  const delays = (usedUp.length > 0 ? usedUp : limits).map(({ delayMs }) => delayMs);
  return delays.length > 0 ? Math.max(...delays) : null;
}

/** Parameters that some endpoints reject, and how they are sent then. Null: not at all. */
export const PARAMETER_REPLACEMENTS: ReadonlyMap<string, string | null> = new Map([
  // Rejected by OpenAI's reasoning models.
  ['max_tokens', 'max_completion_tokens'],
  ['temperature', null],
  ['stream_options', null],
]);

/**
 * The parameter of `PARAMETER_REPLACEMENTS` that an error names as its cause. Some endpoints only name it in the
 * message. A wrong guess costs one request.
 */
export function rejectedParameter(status: number | null, body: unknown): string | null {
  if (status !== 400 && status !== 422) return null;
  const error = isObject(body) && isObject(body['error']) ? body['error'] : body;
  const param = isObject(error) ? error['param'] : null;
  const text = JSON.stringify(error) ?? '';
  const names = [...PARAMETER_REPLACEMENTS.keys()];
  return names.find((name) => (typeof param === 'string' ? param.split('.')[0] === name : text.includes(name))) ?? null;
}

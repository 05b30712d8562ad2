/**
 * Which of the five classes of docs/specification/coach.md 8 a provider's failure belongs to, and whether and when to try again.
 * Codes, types and status decide, in this order; words never do: they change, and they quote what was sent.
 */
import type { AnalysisProblem } from '#domain/coach/coach.ts';

/** What is known of a failed call, read out of whatever the library threw. */
export type Failure = {
  /** HTTP status; null when there was no answer at all. */
  status: number | null;
  /** The provider's codes: Google's `status` and `reason`, Anthropic's `type`, OpenAI's `code` and `type`. */
  codes: readonly string[];
  /** How long the provider asks to wait. */
  delayMs: number | null;
  /** A quota that comes back tomorrow. */
  perDay: boolean;
  /** What arrived was not what the protocol says. */
  malformed: boolean;
};

export type Verdict = { problem: AnalysisProblem; mayRetry: boolean };

const PROBLEM_OF: ReadonlyMap<string, AnalysisProblem> = new Map(
  Object.entries({
    // Google. An invalid key is answered with 400 INVALID_ARGUMENT: the reason tells, and is looked at first.
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
    // Nobody has reached a limit: the provider itself is down, or has too much to do.
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
    api_error: 'network',
    request_too_large: 'general',
    // OpenAI and what speaks like it. Its quota is money that ran out: waiting does not help, the operator can.
    insufficient_quota: 'configuration',
    invalid_api_key: 'configuration',
    model_not_found: 'configuration',
    rate_limit_exceeded: 'rate',
    context_length_exceeded: 'general',
    content_filter: 'general',
  } satisfies Record<string, AnalysisProblem>),
);

function problemOfStatus(status: number | null): AnalysisProblem {
  if (status === null) return 'network';
  if (status === 429) return 'rate';
  if (status === 413) return 'general';
  if (status === 408 || status === 499 || status >= 500) return 'network';
  // A redirect as well: the address is not the right one.
  return status >= 300 ? 'configuration' : 'general';
}

export function classifyFailure({ status, codes, perDay, malformed }: Failure): Verdict {
  if (malformed) return { problem: 'format', mayRetry: false };
  const named = codes.map((code) => PROBLEM_OF.get(code)).find((known) => known !== undefined);
  const problem = named ?? problemOfStatus(status);
  return { problem, mayRetry: (problem === 'rate' || problem === 'network') && !perDay };
}

/** They are written into the log. */
const MOST_CODES = 8;

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
/** A name as protocols have them: short, and without room for words. */
export const isCode = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z][\w.-]{1,80}$/.test(value);

/** Reads the body of an error, in the forms of Google, Anthropic and OpenAI; Google's may stand in a list. */
export function readErrorBody(body: unknown): Pick<Failure, 'codes' | 'delayMs' | 'perDay'> {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isJson(outer) && isJson(outer['error']) ? outer['error'] : isJson(outer) ? outer : {};
  const details = (Array.isArray(error['details']) ? error['details'] : []).filter(isJson);
  const codes = [...details.map((detail) => detail['reason']), error['code'], error['type'], error['status']];
  const delays = details.map((detail) => durationMs(detail['retryDelay'])).filter((delay) => delay !== null);
  return {
    codes: codes.filter(isCode).slice(0, MOST_CODES),
    delayMs: delays.length > 0 ? Math.max(...delays) : null,
    perDay: details.some(namesDailyQuota),
  };
}

function namesDailyQuota(detail: Json): boolean {
  const violations = Array.isArray(detail['violations']) ? detail['violations'] : [];
  return violations.some((violation) => isJson(violation) && /PerDay/i.test(String(violation['quotaId'])));
}

/** `37s` or `1.5s`, as protobuf writes a duration. */
function durationMs(text: unknown): number | null {
  const seconds = typeof text === 'string' ? /^(\d{1,9}(?:\.\d+)?)s$/.exec(text)?.[1] : undefined;
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1000);
}

/** `retry-after-ms`, and `retry-after` as seconds or as a date, which the provider's own clock is compared with. */
export function headerDelayMs(headers: Readonly<Record<string, string>> | undefined): number | null {
  const ms = headers?.['retry-after-ms'];
  if (ms !== undefined && /^\d{1,12}$/.test(ms)) return Number(ms);
  const after = headers?.['retry-after'];
  if (after === undefined) return null;
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1000;
  const delayMs = Date.parse(after) - Date.parse(headers?.['date'] ?? '');
  return Number.isNaN(delayMs) ? null : Math.max(0, delayMs);
}

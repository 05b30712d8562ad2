/**
 * Maps a provider's failure to one of the five classes of docs/specification/coach.md 8 and decides on a retry. Codes
 * and types take precedence over the status. Messages are ignored: they change, and they quote the request.
 */
import type { AnalysisProblem } from '#domain/coach/coach.ts';

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
  /** The response violates the protocol. */
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
    api_error: 'network',
    request_too_large: 'general',
    // OpenAI and compatible endpoints. `insufficient_quota` is an unpaid bill: only the operator can fix it.
    insufficient_quota: 'configuration',
    invalid_api_key: 'configuration',
    model_not_found: 'configuration',
    rate_limit_exceeded: 'rate',
    context_length_exceeded: 'general',
    content_filter: 'general',
  } satisfies Record<string, AnalysisProblem>),
);

function problemByStatus(status: number | null): AnalysisProblem {
  if (status === null) return 'network';
  if (status === 429) return 'rate';
  if (status === 413) return 'general';
  if (status === 408 || status === 499 || status >= 500) return 'network';
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

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
/** Accepts only short identifiers, so that no text of the journal can pass as a code. */
export const isCode = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z][\w.-]{1,80}$/.test(value);

/** Reads an error body in the formats of Google, Anthropic and OpenAI. Google may wrap it in an array. */
export function readErrorBody(body: unknown): Pick<Failure, 'codes' | 'delayMs' | 'perDay'> {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isJson(outer) && isJson(outer['error']) ? outer['error'] : isJson(outer) ? outer : {};
  const details = (Array.isArray(error['details']) ? error['details'] : []).filter(isJson);
  const codes = [...details.map((detail) => detail['reason']), error['code'], error['type'], error['status']];
  const delays = details.map((detail) => durationMs(detail['retryDelay'])).filter((delay) => delay !== null);
  return {
    codes: codes.filter(isCode).slice(0, MAX_CODES),
    delayMs: delays.length > 0 ? Math.max(...delays) : null,
    perDay: details.some(namesDailyQuota),
  };
}

function namesDailyQuota(detail: Json): boolean {
  const violations = Array.isArray(detail['violations']) ? detail['violations'] : [];
  return violations.some((violation) => isJson(violation) && /PerDay/i.test(String(violation['quotaId'])));
}

/** Parses a protobuf duration: `37s` or `1.5s`. */
function durationMs(text: unknown): number | null {
  const seconds = typeof text === 'string' ? /^(\d{1,9}(?:\.\d+)?)s$/.exec(text)?.[1] : undefined;
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1000);
}

/** Reads `retry-after-ms`, and `retry-after` in seconds or as a date relative to the response's `date` header. */
export function headerDelayMs(headers: Readonly<Record<string, string>> | undefined): number | null {
  const ms = headers?.['retry-after-ms'];
  if (ms !== undefined && /^\d{1,12}$/.test(ms)) return Number(ms);
  const after = headers?.['retry-after'];
  if (after === undefined) return null;
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1000;
  const delayMs = Date.parse(after) - Date.parse(headers?.['date'] ?? '');
  return Number.isNaN(delayMs) ? null : Math.max(0, delayMs);
}

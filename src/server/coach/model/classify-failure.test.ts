import { describe, expect, test } from 'vitest';
import type { AnalysisProblem } from '#domain/coach/coach.ts';
import { classifyFailure, headerDelayMs, readErrorBody, rejectedParameter } from './classify-failure.ts';

const google = (status: string, ...details: object[]) => ({
  error: { code: 400, message: 'rate limit', status, details },
});
const INFO = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', domain: 'googleapis.com' };
const QUOTA = '@type.googleapis.com/google.rpc.QuotaFailure';

type Row = [status: number | null, body: unknown, problem: AnalysisProblem, mayRetry: boolean];

const ROWS: Row[] = [
  // Google
  [400, google('INVALID_ARGUMENT', { ...INFO, reason: 'API_KEY_INVALID' }), 'configuration', false],
  [400, google('FAILED_PRECONDITION'), 'configuration', false],
  [403, google('PERMISSION_DENIED'), 'configuration', false],
  [404, google('NOT_FOUND'), 'configuration', false],
  [429, google('RESOURCE_EXHAUSTED', { retryDelay: '37s' }), 'rate', true],
  [
    429,
    google('RESOURCE_EXHAUSTED', { '@type': QUOTA, violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] }),
    'rate',
    false,
  ],
  [500, google('INTERNAL'), 'network', true],
  [503, [google('UNAVAILABLE')], 'network', true],
  [504, google('DEADLINE_EXCEEDED'), 'network', true],
  // Anthropic
  [401, { type: 'error', error: { type: 'authentication_error', message: 'x' } }, 'configuration', false],
  [429, { type: 'error', error: { type: 'rate_limit_error', message: 'x' } }, 'rate', true],
  [529, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 'network', true],
  [413, { type: 'error', error: { type: 'request_too_large', message: 'x' } }, 'general', false],
  [500, { type: 'error', error: { type: 'api_error', message: 'x' } }, 'network', true],
  // OpenAI
  [429, { error: { message: 'x', type: 'insufficient_quota', code: 'insufficient_quota' } }, 'configuration', false],
  [429, { error: { message: 'x', type: 'requests', code: 'rate_limit_exceeded' } }, 'rate', true],
  [404, { error: { message: 'x', type: 'invalid_request_error', code: 'model_not_found' } }, 'configuration', false],
  [400, { error: { message: 'x', type: 'invalid_request_error', code: 'context_length_exceeded' } }, 'general', false],
  [400, { error: { message: 'x', type: 'invalid_request_error', code: 'invalid_prompt' } }, 'general', false],
  [400, { error: { message: 'x', type: 'exceed_context_size_error', code: 400 } }, 'general', false],
  [402, { error: { message: 'Insufficient Balance', code: 'invalid_request_error' } }, 'configuration', false],
  // Ollama and others send only a message, or no body.
  [404, { error: 'model "llama" not found, try pulling it first' }, 'configuration', false],
  [502, '<html>', 'network', true],
  [503, null, 'network', true],
  [529, null, 'network', true],
  [429, null, 'rate', true],
  [418, null, 'configuration', false],
  [null, null, 'network', true],
];

describe('classifyFailure', () => {
  test.each(ROWS)('%s %j: %s', (status, body, problem, mayRetry) => {
    expect(classifyFailure({ status, malformed: false, ...readErrorBody(body) })).toEqual({ problem, mayRetry });
  });

  test('readErrorBody ignores messages and values that are not codes', () => {
    const { codes } = readErrorBody({
      error: { message: 'API_KEY_INVALID', code: 'API key RESOURCE_EXHAUSTED', status: {} },
    });
    expect(codes).toEqual([]);
  });

  test('classifies a malformed response as a format problem without a retry', () => {
    const verdict = classifyFailure({ status: 200, codes: [], delayMs: null, perDay: false, malformed: true });
    expect(verdict).toEqual({ problem: 'format', mayRetry: false });
  });
});

test.each([
  ['37s', 37_000],
  ['1.5s', 1_500],
  ['0s', 0],
  ['-1s', null],
  ['1m', 60_000],
  [37, null],
  ['9999999999999s', null],
])('parses the RetryInfo delay %j', (retryDelay, expected) => {
  expect(readErrorBody(google('RESOURCE_EXHAUSTED', {}, { retryDelay })).delayMs).toBe(expected);
});

test.each([
  [{ 'retry-after': '20' }, 20_000],
  [{ 'retry-after': 'Sun, 22 Nov 2026 00:01:00 GMT', date: 'Sun, 22 Nov 2026 00:00:00 GMT' }, 60_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 00:00:00 GMT', date: 'Sun, 22 Nov 2026 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'Sun, 22 Nov 2026 00:01:00 GMT' }, null],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after-ms': '250', 'retry-after': '20' }, 250],
  [{ 'retry-after-ms': '250.5' }, 251],
  [{ 'retry-after': '1.5' }, 1_500],
  // OpenAI and Groq
  [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
  [{ 'x-ratelimit-reset-requests': '2m59.56s', 'x-ratelimit-reset-tokens': '7.66s' }, 179_560],
  [{ 'x-ratelimit-reset-requests': '12ms' }, 12],
  [{ 'x-ratelimit-reset-tokens': '1h2m3s' }, 3_723_000],
  [{ 'x-ratelimit-reset-requests': '1d2h' }, 93_600_000],
  [
    {
      'x-ratelimit-reset-requests': '8h0m0s',
      'x-ratelimit-remaining-requests': '42',
      'x-ratelimit-reset-tokens': '9s',
      'x-ratelimit-remaining-tokens': '0',
    },
    9_000,
  ],
  [{ 'retry-after': '2', 'x-ratelimit-reset-requests': '8h0m0s' }, 2_000],
  // Azure and Cerebras: seconds. OpenRouter and others: the time.
  [{ 'x-ratelimit-reset-tokens-minute': '11.382' }, 11_382],
  [{ 'x-ratelimit-reset': '1795305660', date: 'Sun, 22 Nov 2026 00:00:00 GMT' }, 60_000],
  [{ 'X-RateLimit-Reset': '1795305660000', date: 'Sun, 22 Nov 2026 00:00:00 GMT' }, 60_000],
  [{ ratelimit: '"default";r=0;t=30' }, 30_000],
  // Anthropic
  [
    {
      'anthropic-ratelimit-requests-reset': '2026-11-22T00:00:10Z',
      'anthropic-ratelimit-requests-remaining': '3',
      'anthropic-ratelimit-output-tokens-reset': '2026-11-22T00:00:40Z',
      'anthropic-ratelimit-output-tokens-remaining': '0',
      date: 'Sun, 22 Nov 2026 00:00:00 GMT',
    },
    40_000,
  ],
  [{ 'x-ratelimit-reset-requests': 'soon', 'x-ratelimit-reset-tokens': '' }, null],
  [{ 'x-ratelimit-reset-requests': '-1', date: 'Sun, 22 Nov 2026 00:00:00 GMT' }, null],
  [{ 'x-ratelimit-limit-requests': '60' }, null],
  [undefined, null],
])('parses the headers %j of a 429 as %s ms', (headers, expected) => {
  expect(headerDelayMs(headers, 429)).toBe(expected);
});

test('the reset of a rate limit is no delay of another failure', () => {
  expect(headerDelayMs({ 'x-ratelimit-reset-requests': '20s' }, 500)).toBeNull();
  expect(headerDelayMs({ 'retry-after': '20' }, 503)).toBe(20_000);
});

test('reads the headers that OpenRouter quotes in the body', () => {
  const metadata = { headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '30s' } };
  expect(readErrorBody({ error: { message: 'x', code: 429, metadata } }).delayMs).toBe(30_000);
});

test.each([
  [400, { error: { param: 'max_tokens', code: 'unsupported_parameter', message: 'x' } }, 'max_tokens'],
  [400, { error: { param: 'temperature', code: 'unsupported_value', message: 'x' } }, 'temperature'],
  [400, { error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'." } }, 'max_tokens'],
  [422, { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] }, 'stream_options'],
  [400, { error: { param: 'messages', message: "'max_tokens' and the messages are too long" } }, null],
  [400, { error: { message: 'x' } }, null],
  [401, { error: { param: 'max_tokens' } }, null],
  [400, null, null],
])('the rejected parameter of %d %j is %j', (status, body, expected) => {
  expect(rejectedParameter(status, body)).toBe(expected);
});

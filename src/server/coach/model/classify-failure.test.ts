import { describe, expect, test } from 'vitest';
import type { AnalysisProblem } from '#domain/coach/coach.ts';
import { classifyFailure, headerDelayMs, readErrorBody } from './classify-failure.ts';

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
  ['1m', null],
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
  [undefined, null],
])('parses the headers %j as %s ms', (headers, expected) => {
  expect(headerDelayMs(headers)).toBe(expected);
});

/** The captcha simulator speaks both protocols (docs/specification/providers.md 8). */
import { expect, test } from 'vitest';
import { createCaptchaSimulator, SECRET, SITE_KEY, type CaptchaProvider } from '../../simulators/captcha/simulator.ts';

const PATHS = { hcaptcha: '/siteverify', turnstile: '/turnstile/v0/siteverify' } as const;
const FORM = 'application/x-www-form-urlencoded';

function startSimulator(provider: CaptchaProvider) {
  let now = 0;
  const { control, answer } = createCaptchaSimulator(() => now);
  const verify = (fields: Record<string, string>, type = FORM) => {
    const body = type === FORM ? new URLSearchParams(fields).toString() : JSON.stringify(fields);
    const request = { method: 'POST', path: PATHS[provider], query: '', headers: { 'content-type': type }, body };
    return JSON.parse(answer(request)!.body);
  };
  return { control, answer, verify, advance: (ms: number) => void (now += ms) };
}

test.each(['hcaptcha', 'turnstile'] as const)('%s verifies a token once, and names its host', (provider) => {
  const { control, verify } = startSimulator(provider);
  const response = control.solve({ hostname: 'journal.example.com' });
  expect(verify({ secret: SECRET, response })).toMatchObject({ success: true, hostname: 'journal.example.com' });
  expect(verify({ secret: SECRET, response }).success).toBe(false);
});

test.each([
  ['hcaptcha', 120_000, 'invalid-or-already-seen-response'],
  ['turnstile', 300_000, 'timeout-or-duplicate'],
] as const)('a token of %s expires after %d ms', (provider, lifetimeMs, code) => {
  const { control, verify, advance } = startSimulator(provider);
  const [early, late] = [control.solve({ hostname: 'a.example' }), control.solve({ hostname: 'a.example' })];
  advance(lifetimeMs);
  expect(verify({ secret: SECRET, response: early }).success).toBe(true);
  advance(1);
  expect(verify({ secret: SECRET, response: late })).toEqual({ success: false, 'error-codes': [code] });
});

test.each([
  ['missing-input-secret', { response: 'x' }],
  ['invalid-input-secret', { secret: 'wrong', response: 'x' }],
  ['missing-input-response', { secret: SECRET }],
  ['invalid-input-response', { secret: SECRET, response: 'x' }],
])('a request is refused with %s', (code, fields) => {
  for (const provider of ['hcaptcha', 'turnstile'] as const) {
    expect(startSimulator(provider).verify(fields)).toEqual({ success: false, 'error-codes': [code] });
  }
});

test('hCaptcha takes a form alone, and Turnstile JSON as well', () => {
  for (const provider of ['hcaptcha', 'turnstile'] as const) {
    const { control, verify } = startSimulator(provider);
    const fields = { secret: SECRET, response: control.solve({ hostname: 'a.example' }) };
    expect(verify(fields, 'application/json').success).toBe(provider === 'turnstile');
  }
});

test('hCaptcha compares the site key if the request has one', () => {
  const { control, verify } = startSimulator('hcaptcha');
  const response = control.solve({ hostname: 'a.example' });
  expect(verify({ secret: SECRET, response, sitekey: 'another' })['error-codes']).toEqual(['sitekey-secret-mismatch']);
  expect(verify({ secret: SECRET, response, sitekey: SITE_KEY }).success).toBe(true);
});

test('a fault replaces the next answer, and an unknown path has none', () => {
  const { control, verify, answer } = startSimulator('turnstile');
  control.fail({ body: '{}' });
  expect(verify({ secret: SECRET })).toEqual({});
  expect(verify({ secret: SECRET }).success).toBe(false);
  expect(answer({ method: 'POST', path: '/other', query: '', headers: {}, body: '' })).toBeNull();
});

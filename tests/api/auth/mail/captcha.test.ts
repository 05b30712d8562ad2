/** Captcha checks of /auth/v1 (docs/specification/accounts.md 9, providers.md 8). */
import { createHmac, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT, importJWK, type JWTPayload } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { askSiteverify, parseVerdict } from '#server/auth/http/captcha.ts';
import { keySource, readKeys } from '#server/auth/keys/key-file.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { startCaptchaServer, type CaptchaServer } from '../../../../simulators/captcha/server.ts';
import { SECRET, SITE_KEY } from '../../../../simulators/captcha/simulator.ts';
import { measureCpuMs } from '../../../support/cpu-time.ts';
import { PASSWORD, newAddress, startAuthWorld, type AuthWorld } from '../fixture.ts';

let captcha: CaptchaServer;
beforeAll(async () => {
  captcha = await startCaptchaServer();
});
afterEach(() => captcha.control.reset());
afterAll(() => captcha.close());

const ours = { hostname: 'localhost' };
const refusalBody = (reason: string) => ({
  code: 'captcha_failed',
  message: `captcha protection: request disallowed (${reason})`,
});

describe.each(['hcaptcha', 'turnstile'] as const)('with %s', (provider) => {
  let world: AuthWorld;
  beforeAll(async () => {
    const AUTH_REDIRECT_URLS = 'https://*.example.com/**,myapp://**';
    world = await startAuthWorld({ AUTH_REDIRECT_URLS, AUTH_ETHEREUM: 'on', ...captcha.settingsFor(provider) });
  });
  afterAll(() => world.close());

  const recover = async (captcha_token?: unknown) => {
    const body = { email: 'a@example.com', gotrue_meta_security: { captcha_token } };
    const { status, body: answer } = await world.request('POST', '/recover', { body });
    return [status, answer];
  };

  test('the real client signs up and signs in with a token for each request', async () => {
    const { auth } = world.client();
    const email = newAddress();
    const captchaToken = () => ({ captchaToken: captcha.control.solve(ours) });
    const signedUp = await auth.signUp({ email, password: PASSWORD, options: captchaToken() });
    expect(signedUp.error).toBeNull();
    const without = await auth.signInWithPassword({ email, password: PASSWORD });
    expect(without.error).toMatchObject({ status: 400, code: 'captcha_failed' });
    expect((await auth.signInWithPassword({ email, password: PASSWORD, options: captchaToken() })).error).toBeNull();
    // A renewal asks for no captcha.
    expect((await auth.refreshSession()).error).toBeNull();
  });

  test.each([
    ['/signup', { email: 'a@example.com', password: PASSWORD }],
    ['/token?grant_type=password', { email: 'a@example.com', password: PASSWORD }],
    ['/token?grant_type=web3', { chain: 'ethereum' }],
    ['/passkeys/authentication/options', {}],
    ['/otp', { email: 'a@example.com' }],
    ['/otp', { phone: '+15005550001' }],
    ['/magiclink', { email: 'a@example.com' }],
    ['/recover', { email: 'a@example.com' }],
    ['/resend', { type: 'signup', email: 'a@example.com' }],
    ['/passkeys/authentication/options', {}],
  ])('POST %s without a token is rejected', async (path, fields) => {
    for (const security of [undefined, null, {}, { captcha_token: '' }, { captcha_token: 7 }]) {
      const body = { ...fields, gotrue_meta_security: security };
      const response = await world.request('POST', path, { body });
      expect([response.status, response.body]).toEqual([400, refusalBody('no captcha_token found')]);
    }
    const old = await world.request('POST', path, { body: fields, headers: { 'X-Supabase-Api-Version': '' } });
    expect(old.body).toMatchObject({ code: 400, error_code: 'captcha_failed' });
    expect(captcha.control.requests()).toHaveLength(0);
  });

  test('a token works once', async () => {
    const token = captcha.control.solve(ours);
    expect(await recover(token)).toEqual([200, {}]);
    const spent = provider === 'hcaptcha' ? 'invalid-or-already-seen-response' : 'timeout-or-duplicate';
    expect(await recover(token)).toEqual([400, refusalBody(spent)]);
  });

  test('an unknown token and a token over 8 KB are rejected', async () => {
    expect(await recover('invented')).toEqual([400, refusalBody('invalid-input-response')]);
    expect(captcha.control.requests()).toHaveLength(1);
    expect(await recover('x'.repeat(8_193))).toEqual([400, refusalBody('invalid-input-response')]);
    expect(captcha.control.requests()).toHaveLength(1);
  });

  test.each([
    ['localhost', 200],
    ['127.0.0.1', 200],
    ['app.example.com', 200],
    ['example.com', 400],
    ['evil.example', 400],
    ['localhost.evil.example', 400],
    ['app.example.com.evil.example', 400],
  ])('a token solved on %s gets %d', async (hostname, status) => {
    const [got, body] = await recover(captcha.control.solve({ hostname }));
    expect(got).toBe(status);
    if (status === 400) expect(body).toEqual(refusalBody('hostname-mismatch'));
  });

  test('a withheld host name is accepted from hCaptcha alone', async () => {
    const [status] = await recover(captcha.control.solve({ hostname: 'not-provided' }));
    expect(status).toBe(provider === 'hcaptcha' ? 200 : 400);
  });

  test.each([
    ['a dropped connection', { drop: true }],
    ['a gateway error', { status: 502 }],
    ['an error with the body of a success', { status: 500, body: '{"success":true,"hostname":"localhost"}' }],
    ['a redirect', { status: 307, location: '/siteverify', body: '' }],
    ['HTML', { status: 200 }],
    ['an answer without a verdict', { body: '{"hostname":"localhost"}' }],
    ['an answer over 16 KB', { body: JSON.stringify({ success: true, hostname: 'localhost', x: 'x'.repeat(20_000) }) }],
  ])('%s is answered with 503, which the client may retry', async (_name, fault) => {
    captcha.control.fail(fault);
    const body = { email: newAddress(), gotrue_meta_security: { captcha_token: captcha.control.solve(ours) } };
    const response = await world.request('POST', '/recover', { body });
    expect([response.status, response.body]).toEqual([
      503,
      { code: 'captcha_failed', message: 'captcha verification process failed' },
    ]);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(captcha.control.requests()).toHaveLength(1);
  });

  test('a header that looks like a token costs no time', async () => {
    const headers = { Authorization: `Bearer ${'.'.repeat(15_000)} x` };
    const send = async () => {
      const { body } = await world.request('POST', '/recover', { body: { email: 'a@example.com' }, headers });
      expect(body).toEqual(refusalBody('no captcha_token found'));
    };
    // A regular expression that backtracks over the dots of the header would take hours.
    expect(await measureCpuMs(send)).toBeLessThan(5_000);
  });

  test('a service token needs no captcha, unlike a forged one or one with a session', async () => {
    const { signing: key } = await readKeys(keySource({ signingKeyFile: null }, world.database));
    const claims = { role: 'service_role', exp: Math.floor(Date.now() / 1000) + 60 };
    const signing = await importJWK(key.privateJwk, 'ES256');
    const sign = (payload: JWTPayload) => new SignJWT(payload).setProtectedHeader({ alg: 'ES256' }).sign(signing);
    const token = await sign(claims);
    const ofSession = await sign({ ...claims, session_id: randomUUID() });
    const body = { email: newAddress() };
    expect((await world.request('POST', '/recover', { body, token })).status).toBe(200);
    const [head = '', payload = ''] = token.split('.');
    const forged = `${head}.${payload}.${createHmac('sha256', 'x').update(head).digest('base64url')}`;
    const captchaToken = captcha.control.solve(ours);
    const user = await world
      .client()
      .auth.signUp({ email: newAddress(), password: PASSWORD, options: { captchaToken } });
    for (const bearer of [forged, ofSession, 'a.b.c', world.config.publishableKey, user.data.session!.access_token]) {
      expect((await world.request('POST', '/recover', { body, token: bearer })).body.code).toBe('captcha_failed');
    }
  });
});

test('a token that was solved on this machine does not pass on a public server', async () => {
  const world = await startAuthWorld({
    SANDBOX: 'off',
    PUBLIC_URL: 'https://journal.example.com',
    ...captcha.settingsFor('turnstile'),
  });
  try {
    for (const [hostname, status] of [
      ['localhost', 400],
      ['127.0.0.1', 400],
      ['journal.example.com', 200],
    ] as const) {
      const gotrue_meta_security = { captcha_token: captcha.control.solve({ hostname }) };
      const response = await world.request('POST', '/recover', { body: { email: newAddress(), gotrue_meta_security } });
      expect(response.status).toBe(status);
    }
  } finally {
    await world.close();
  }
});

const settings = (provider: 'hcaptcha' | 'turnstile', secret = SECRET) => ({
  provider,
  siteKey: SITE_KEY,
  secret: new Secret(secret),
  verifyUrl: captcha.settingsFor(provider).CAPTCHA_VERIFY_URL,
  scriptUrl: 'https://captcha.example/api.js',
});

describe('siteverify', () => {
  test('hCaptcha is sent the site key, and rejects a token of another site', async () => {
    const elsewhere = captcha.control.solve({ ...ours, siteKey: 'another-site' });
    expect(await askSiteverify(settings('hcaptcha'), elsewhere)).toEqual({
      outcome: 'refused',
      codes: ['sitekey-secret-mismatch'],
    });
    const form = new URLSearchParams(captcha.control.requests()[0]!.body);
    expect([...form.keys()]).toEqual(['secret', 'response', 'sitekey']);
  });

  test('a wrong secret refuses the captcha with the code of the service', async () => {
    const verdict = await askSiteverify(settings('turnstile', 'wrong'), captcha.control.solve(ours));
    expect(verdict).toEqual({ outcome: 'refused', codes: ['invalid-input-secret'] });
  });

  test('a slow service is unavailable after the time-out', async () => {
    captcha.control.fail({ delayMs: 60_000 });
    const verdict = await askSiteverify(settings('turnstile'), captcha.control.solve(ours), 50);
    expect(verdict).toEqual({ outcome: 'unavailable', reason: 'TimeoutError' });
  });

  test('an address without a server is unavailable', async () => {
    const nowhere = { ...settings('hcaptcha'), verifyUrl: 'http://127.0.0.1:9/siteverify' };
    expect(await askSiteverify(nowhere, 'x')).toMatchObject({ outcome: 'unavailable' });
  });

  test('no answer but `success: true` with a host name is a solved captcha', () => {
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom(true, 'true', 1));
    const answer = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ success: field, hostname: field, 'error-codes': field }, { requiredKeys: [] })
        .map((fields) => JSON.stringify(fields)),
    );
    fc.assert(
      fc.property(answer, fc.constantFrom('hcaptcha', 'turnstile'), (text, provider) => {
        const verdict = parseVerdict(text, provider);
        if (verdict.outcome === 'solved') {
          expect(JSON.parse(text)).toMatchObject({ success: true, hostname: expect.stringMatching(/./s) });
        }
        if (verdict.outcome === 'refused') for (const code of verdict.codes) expect(code).toMatch(/^[a-z][a-z0-9-]*$/);
      }),
    );
  });
});

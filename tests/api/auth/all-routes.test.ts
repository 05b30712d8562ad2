/**
 * Tests what all routes of /auth/v1 have in common (docs/specification/api.md 2, 3 and 17): error formats, bodies,
 * limits, keys, overload.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from '@node-rs/argon2';
import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';
import { unicodeText } from '../../support/unicode-text.ts';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import { setUpAuthWorld, PASSWORD, newAddress, startAuthWorld } from './fixture.ts';

const world = setUpAuthWorld();

const failing = (version: string | undefined) =>
  fetch(`${world.url}/auth/v1/token?grant_type=password`, {
    method: 'POST',
    headers: version === undefined ? {} : { 'X-Supabase-Api-Version': version },
    body: JSON.stringify({ email: 'a@b.co', password: 'wrong one' }),
  });

describe('errors', () => {
  test.each(['2024-01-01', '2025-06-30'])('have the new format for version %s', async (version) => {
    const response = await failing(version);
    expect(response.headers.get('x-supabase-api-version')).toBe('2024-01-01');
    expect(response.headers.get('x-sb-error-code')).toBe('invalid_credentials');
    expect(await response.json()).toEqual({ code: 'invalid_credentials', message: 'Invalid login credentials' });
  });

  test.each([undefined, '2023-12-31', 'soon', '2024'])('have the old format for version %s', async (version) => {
    const response = await failing(version);
    expect(response.headers.has('x-supabase-api-version')).toBe(false);
    expect(response.headers.get('x-sb-error-code')).toBe('invalid_credentials');
    expect(await response.json()).toEqual({
      code: 400,
      error_code: 'invalid_credentials',
      msg: 'Invalid login credentials',
    });
  });

  test('contain the reasons of a weak password in both formats', async () => {
    const body = { email: newAddress(), password: 'short' };
    const [fresh, old] = [
      await world.request('POST', '/signup', { body }),
      await world.request('POST', '/signup', { body, headers: { 'X-Supabase-Api-Version': '' } }),
    ];
    const weak_password = { reasons: ['length'] };
    expect(fresh.body).toEqual({
      code: 'weak_password',
      message: 'Password should be at least 6 characters.',
      weak_password,
    });
    expect(old.body).toEqual({
      code: 422,
      error_code: 'weak_password',
      msg: 'Password should be at least 6 characters.',
      weak_password,
    });
  });

  test('reject a common password at sign-up and at a password change', async () => {
    const { access } = await world.signUpUser();
    const refused = {
      code: 'weak_password',
      message: 'Password is known to be weak and easy to guess, please choose a different one.',
      weak_password: { reasons: ['pwned'] },
    };
    const signUp = await world.request('POST', '/signup', { body: { email: newAddress(), password: '123456' } });
    const change = await world.request('PUT', '/user', { token: access, body: { password: 'Password1' } });
    expect([signUp.status, signUp.body, change.status, change.body]).toEqual([422, refused, 422, refused]);
    const { error } = await world.client().auth.signUp({ email: newAddress(), password: 'qwerty' });
    expect(error).toMatchObject({ name: 'AuthWeakPasswordError', reasons: ['pwned'] });
  });

  test('reject a password made of the name or the address of its owner', async () => {
    const body = { email: 'petronella.v@example.com', data: { name: 'Ysolde Q' } };
    const signUp = (password: string) => world.request('POST', '/signup', { body: { ...body, password } });
    for (const password of ['Petronella7!', 'ysolde-2024', 'Summer2024!', 'Hustle-Forge1']) {
      expect((await signUp(password)).body.code, password).toBe('weak_password');
    }
    expect((await signUp('petronella eats plums')).status).toBe(200);
    const { access } = await world.signUpUser();
    const change = { password: 'Ysolde2024', data: { name: 'Ysolde' } };
    const changed = await world.request('PUT', '/user', { token: access, body: change });
    expect(changed.body.code).toBe('weak_password');
    const admin = { body: { ...body, email: newAddress(), password: 'qwerty2024' }, token: await world.serviceToken() };
    expect((await world.request('POST', '/admin/users', admin)).body.code).toBe('weak_password');
  });

  test('are answered by a sign-in whose password is refused for a new account', async () => {
    const email = newAddress();
    const { user } = (await world.request('POST', '/signup', { body: { email, password: PASSWORD } })).body;
    const signIn = (password: string) => world.client().auth.signInWithPassword({ email, password });
    expect((await signIn(PASSWORD)).data.weakPassword).toBeUndefined();
    const setPassword = (password: string) =>
      world.admin.query('update auth.users set password_hash = $2 where id = $1', [user.id, hashSync(password)]);
    await setPassword('qwerty');
    expect((await signIn('qwerty')).data).toMatchObject({
      session: { user: { id: user.id } },
      weakPassword: { message: expect.stringContaining('easy to guess'), reasons: ['pwned'] },
    });
    await setPassword('x7-4q');
    expect((await signIn('x7-4q')).data.weakPassword).toMatchObject({ reasons: ['length'] });
  });

  test('give the real client their code', async () => {
    const { error } = await world.client().auth.signInWithPassword({ email: 'a@b.co', password: 'wrong one' });
    expect(error).toMatchObject({ name: 'AuthApiError', status: 400, code: 'invalid_credentials' });
  });

  test('echo no version on success', async () => {
    expect((await world.request('GET', '/health')).headers.has('x-supabase-api-version')).toBe(false);
  });

  test.each([
    ['GET', '/token?grant_type=password', 'POST'],
    ['PATCH', '/user', 'GET, HEAD, PUT'],
    ['DELETE', '/verify', 'GET, HEAD, POST'],
    ['POST', '/.well-known/jwks.json', 'GET, HEAD'],
    ['GET', '/factors/recovery-codes/verify', 'POST'],
    ['OPTIONS', '/signup', 'POST'],
    ['PATCH', '/admin/users/x/factors/y', 'DELETE, PUT'],
    ['POST', '/admin/users/x', 'DELETE, GET, HEAD, PUT'],
  ])('%s %s is 405 and allows %s', async (method, path, allowed) => {
    const { status, headers, body } = await world.request(method, path);
    expect([status, headers.get('allow'), body]).toEqual([
      405,
      allowed,
      { code: 'method_not_allowed', message: 'This address is not called with this method' },
    ]);
    expect(headers.get('x-sb-error-code')).toBe('method_not_allowed');
  });

  test('are JSON for unknown paths', async () => {
    for (const path of ['/nonsense', '/token/', '/user/', '/factors/a/b/c', '/admin']) {
      const { status, body } = await world.request('GET', path);
      expect([status, body]).toEqual([404, { code: 'not_found', message: 'There is nothing at this address' }]);
    }
  });
});

describe('bodies', () => {
  test.each(['', '{', '[]', '"text"', 'null', '7', '{"email":}', '\ufeff{}x'])(
    '%j are rejected as bad JSON',
    async (body) => {
      const response = await world.request('POST', '/signup', {
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      expect([response.status, response.body.code]).toEqual([400, 'bad_json']);
      expect(response.body.message).toMatch(/^Could not parse request body as JSON: /);
    },
  );

  test('over 1 MiB are rejected, with and without Content-Length', async () => {
    const large = JSON.stringify({ email: 'a@b.co', password: PASSWORD, data: { x: 'x'.repeat(1_048_576) } });
    // The server responds before it has read the whole body, so this connection cannot be reused.
    const stated = await world.request('POST', '/signup', { body: large, headers: { Connection: 'close' } });
    expect([stated.status, stated.body]).toEqual([
      413,
      { code: 'request_entity_too_large', message: 'Request body too large' },
    ]);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const [path, headers] of [
      ['/signup', {}],
      ['/verify/continue', form],
      ['/account/undo-deletion', form],
      ['/callback', form],
    ] as const) {
      const streamed = await fetch(`${world.url}/auth/v1${path}`, {
        method: 'POST',
        headers: { Connection: 'close', ...headers },
        body: new Blob([large]).stream(),
        duplex: 'half',
      } as RequestInit);
      expect(streamed.status, path).toBe(413);
    }
  });

  test('that are nested too deeply are rejected', async () => {
    const data = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const { status, body } = await world.request('POST', '/signup', {
      body: `{"email":"a@b.co","password":"123456","data":${data}}`,
    });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
  });

  const oddText = fc.oneof(
    fc.string(),
    unicodeText(),
    fc.constantFrom(
      '',
      '\0',
      '\ud800',
      'a@b.co',
      "'; drop table auth.users; --",
      'x'.repeat(300),
      '123456',
      '__proto__',
    ),
  );
  const oddValue = fc.oneof(oddText, fc.jsonValue(), fc.constant(null), fc.integer());
  const fields = [
    'email',
    'phone',
    'password',
    'data',
    'type',
    'token',
    'token_hash',
    'refresh_token',
    'nonce',
    'redirect_to',
    'channel',
    'create_user',
    'code_challenge',
    'code_challenge_method',
    'gotrue_meta_security',
  ];
  const oddBody = fc.dictionary(fc.constantFrom(...fields), oddValue);

  test.each([
    '/signup',
    '/token?grant_type=password',
    '/token?grant_type=refresh_token',
    '/verify',
    '/otp',
    '/magiclink',
    '/recover',
    '/resend',
  ])('with arbitrary values never cause a 500 on POST %s', async (path) => {
    await fc.assert(
      fc.asyncProperty(oddBody, async (body) => {
        const { status } = await world.request('POST', path, { body: JSON.stringify(body) });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: fuzzBudget(60) },
    );
  });

  test('with arbitrary values never cause a 500 on PUT /user', async () => {
    const { access } = await world.signUpUser();
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom('data', 'nonce', 'app_metadata', 'phone', 'email', 'code_challenge', 'code_challenge_method'),
          oddValue,
        ),
        async (body) => {
          const { status } = await world.request('PUT', '/user', { token: access, body: JSON.stringify(body) });
          expect(status).toBeLessThan(500);
        },
      ),
      { numRuns: fuzzBudget(60) },
    );
  });

  test('store any valid Unicode text unchanged', async () => {
    const { access } = await world.signUpUser();
    const name = 'Zoë 👩🏽‍💻 مرحبا e\u0301 <script>';
    const { body } = await world.request('PUT', '/user', { token: access, body: { data: { name } } });
    expect(body.user_metadata.name).toBe(name);
  });
});

describe('public endpoints', () => {
  test('publish one cacheable public key without private members', async () => {
    const { headers, body } = await world.request('GET', '/.well-known/jwks.json');
    expect(headers.get('cache-control')).toBe('public, max-age=600');
    expect(body.keys).toHaveLength(1);
    expect(Object.keys(body.keys[0]).toSorted()).toEqual(['alg', 'crv', 'key_ops', 'kid', 'kty', 'use', 'x', 'y']);
  });

  test('return settings and health', async () => {
    const { body } = await world.request('GET', '/settings');
    expect(body).toMatchObject({
      external: { email: true, google: false },
      disable_signup: false,
      mailer_autoconfirm: true,
    });
    expect((await world.request('GET', '/health')).body).toMatchObject({ name: 'GoTrue', version: expect.any(String) });
  });
});

describe('the operator’s signing key', () => {
  test('signs with RS256 without a kid in the key file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-key-'));
    const file = join(folder, 'key.json');
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    await writeFile(file, JSON.stringify(await exportJWK(privateKey)));
    const other = await startAuthWorld({ AUTH_SIGNING_KEY_FILE: file });
    try {
      const { access } = await other.signUpUser();
      expect(JSON.parse(Buffer.from(access.split('.')[0]!, 'base64url').toString()).alg).toBe('RS256');
      expect((await other.request('GET', '/user', { token: access })).status).toBe(200);
      const { body } = await other.request('GET', '/.well-known/jwks.json');
      expect(Object.keys(body.keys[0]).toSorted()).toEqual(['alg', 'e', 'key_ops', 'kid', 'kty', 'n', 'use']);
    } finally {
      await other.close();
      await rm(folder, { recursive: true });
    }
  });
});

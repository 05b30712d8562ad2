/** Signing up, in and out, with the real client and with raw requests (docs/specification/api.md 8, 9, 11 and 12). */
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, SESSION_FIELDS, newAddress, type WireBody } from './fixture.ts';

const world = setUpAuthWorld({}, { passwords: 'real' });

describe('signing up with autoconfirm', () => {
  test('starts a session and returns the user', async () => {
    const email = newAddress();
    const { data, error } = await world
      .client()
      .auth.signUp({ email, password: PASSWORD, options: { data: { name: 'Wayland' } } });
    expect(error).toBeNull();
    expect(data.session).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    expect(data.user).toMatchObject({
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { name: 'Wayland', email, email_verified: true, phone_verified: false, sub: data.user?.id },
      is_anonymous: false,
    });
    expect(data.user?.identities).toHaveLength(1);
    expect(data.user?.identities?.[0]).toMatchObject({ provider: 'email', id: data.user?.id, user_id: data.user?.id });
    expect(data.user?.email_confirmed_at).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
  });

  test('takes an address with invisible ends or an international domain as the one in ASCII', async () => {
    const [name] = newAddress().split('@');
    const email = `${name}@b\u00fccher.example`;
    const signedUp = await world.request('POST', '/signup', {
      body: { email: `\u200b${email}\ufeff`, password: PASSWORD },
    });
    expect(signedUp.body.user).toMatchObject({ email: `${name}@xn--bcher-kva.example` });
    for (const address of [email, `${name}@xn--bcher-kva.example`, `${name}@BU\u0308CHER.example`]) {
      const again = await world.client().auth.signInWithPassword({ email: address, password: PASSWORD });
      expect(again.data.user?.id).toBe(signedUp.body.user.id);
    }
    const imitated = await world.request('POST', '/signup', {
      body: { email: 'a@\u212aelvin.example', password: PASSWORD },
    });
    expect(imitated.status).toBe(400);
  });

  test('answers expires_at, the end of the access token', async () => {
    const { body } = await world.request('POST', '/signup', { body: { email: newAddress(), password: PASSWORD } });
    expect(Object.keys(body).toSorted()).toEqual(SESSION_FIELDS);
    expect(body.expires_at).toBe(decodeJwt(body.access_token).exp);
  });

  test('creates the profile row, and stores password and token only as hashes', async () => {
    const { id, refresh } = await world.signUpUser();
    const profiles = await world.admin.query('select id from public.profiles where id = $1', [id]);
    expect(profiles.rowCount).toBe(1);
    const users = await world.admin.query('select password_hash from auth.users where id = $1', [id]);
    expect(users.rows[0].password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const tokens = await world.admin.query(
      'select * from auth.refresh_tokens t join auth.sessions s on s.id = t.session_id where s.user_id = $1',
      [id],
    );
    expect(JSON.stringify(tokens.rows)).not.toContain(refresh);
  });

  test('compares addresses case-insensitively', async () => {
    const email = newAddress();
    await world.signUpUser(email.toUpperCase());
    const { data } = await world.client().auth.signInWithPassword({ email, password: PASSWORD });
    expect(data.user?.email).toBe(email);
  });

  test('rejects an address that is taken', async () => {
    const { email } = await world.signUpUser();
    const { status, body } = await world.request('POST', '/signup', { body: { email, password: PASSWORD } });
    expect(status).toBe(422);
    expect(body).toEqual({ code: 'user_already_exists', message: 'User already registered' });
  });

  test('gives an address to one of several concurrent sign-ups', async () => {
    const email = newAddress();
    const responses = await Promise.all(
      [1, 2, 3].map(() => world.request('POST', '/signup', { body: { email, password: PASSWORD } })),
    );
    expect(responses.map((response) => String(response.status)).toSorted()).toEqual(['200', '422', '422']);
  });

  test.each([
    ['no address', { password: PASSWORD }, 422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled'],
    ['no password', { email: 'a@b.co' }, 400, 'validation_failed', 'Signup requires a valid password'],
    [
      'null password',
      { email: 'a@b.co', password: null },
      400,
      'validation_failed',
      'Signup requires a valid password',
    ],
    [
      'short password',
      { email: 'a@b.co', password: '12345' },
      422,
      'weak_password',
      'Password should be at least 6 characters.',
    ],
    [
      '73 bytes',
      { email: 'a@b.co', password: 'é'.repeat(37) },
      400,
      'validation_failed',
      'Password cannot be longer than 72 characters',
    ],
    [
      'address and phone',
      { email: 'a@b.co', phone: '1', password: PASSWORD },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided on signup.',
    ],
    ['phone', { phone: '123456', password: PASSWORD }, 400, 'phone_provider_disabled', 'Phone signups are disabled'],
    [
      'no @',
      { email: 'nobody', password: PASSWORD },
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ],
    [
      'line break',
      { email: 'a@b.co\r\nBcc: c@d.co', password: PASSWORD },
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ],
    [
      '256 characters',
      { email: `${'a'.repeat(60)}@${'b.'.repeat(100)}co`, password: PASSWORD },
      400,
      'validation_failed',
      'An email address is too long',
    ],
    [
      'text as data',
      { email: 'a@b.co', password: PASSWORD, data: 'x' },
      400,
      'bad_json',
      'Could not parse request body as JSON: data must be an object',
    ],
    [
      'number as password',
      { email: 'a@b.co', password: 7 },
      400,
      'bad_json',
      'Could not parse request body as JSON: password must be a string',
    ],
    [
      'null character',
      { email: 'a@b.co', password: 'abc\0defg' },
      400,
      'validation_failed',
      'Text must be valid Unicode without null characters',
    ],
    [
      'lone surrogate in a name',
      { email: 'a@b.co', password: PASSWORD, data: { name: '\ud800' } },
      400,
      'validation_failed',
      'Text must be valid Unicode without null characters',
    ],
    [
      'large data',
      { email: 'a@b.co', password: PASSWORD, data: { name: 'x'.repeat(1_100) } },
      400,
      'validation_failed',
      'User metadata of a sign-up must not exceed 1024 bytes of JSON. Send more with PUT /user after the sign-in',
    ],
  ])('rejects %s', async (_name, body, status, code, message) => {
    const response = await world.request('POST', '/signup', { body });
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({ code, message });
  });

  test('returns the reason of a weak password to the client', async () => {
    const { error } = await world.client().auth.signUp({ email: newAddress(), password: '12345' });
    expect(error).toMatchObject({ name: 'AuthWeakPasswordError', status: 422, reasons: ['length'] });
  });
});

describe('signing in with a password', () => {
  test('starts a new session each time and keeps the others', async () => {
    const { email, access } = await world.signUpUser();
    const client = world.client();
    const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD });
    expect(error).toBeNull();
    expect(data.session?.access_token).not.toBe(access);
    expect((await world.request('GET', '/user', { token: access })).status).toBe(200);
    expect((await client.auth.getUser()).data.user?.last_sign_in_at).toBeTruthy();
  });

  test('signs the claims that clients read', async () => {
    const { email, id, access } = await world.signUpUser();
    const [header, payload] = access
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    expect(header).toEqual({ alg: 'ES256', kid: expect.any(String), typ: 'JWT' });
    expect(payload).toEqual({
      iss: `${world.config.publicUrl}/auth/v1`,
      sub: id,
      aud: 'authenticated',
      iat: expect.any(Number),
      exp: payload.iat + 3600,
      email,
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { email, email_verified: true, phone_verified: false, sub: id },
      role: 'authenticated',
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: expect.any(Number) }],
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      is_anonymous: false,
    });
  });

  test('issues tokens that the client verifies with the published key', async () => {
    const { email } = await world.signUpUser();
    const client = world.client();
    await client.auth.signInWithPassword({ email, password: PASSWORD });
    const { data, error } = await client.auth.getClaims();
    expect(error).toBeNull();
    expect(data?.claims).toMatchObject({ email, role: 'authenticated' });
  });

  test('responds the same to a wrong password and an unknown address', async () => {
    const { email } = await world.signUpUser();
    const wrong = await world.request('POST', '/token?grant_type=password', {
      body: { email, password: 'not this one' },
    });
    const unknown = await world.request('POST', '/token?grant_type=password', {
      body: { email: newAddress(), password: PASSWORD },
    });
    expect(wrong.status).toBe(400);
    expect(wrong.body).toEqual({ code: 'invalid_credentials', message: 'Invalid login credentials' });
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
  });

  test('reveals a ban only with the correct password', async () => {
    const { email, id } = await world.signUpUser();
    await world.admin.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [id]);
    const right = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    const wrong = await world.request('POST', '/token?grant_type=password', {
      body: { email, password: 'not this one' },
    });
    expect(right.body).toEqual({ code: 'user_banned', message: 'User is banned' });
    expect(wrong.body.code).toBe('invalid_credentials');
  });

  test.each([
    ['no grant type', '/token', {}, 'invalid_credentials', 'unsupported_grant_type'],
    ['an unknown grant type', '/token?grant_type=magic', {}, 'invalid_credentials', 'unsupported_grant_type'],
    [
      'neither address nor phone',
      '/token?grant_type=password',
      { password: PASSWORD },
      'validation_failed',
      'missing email or phone',
    ],
    [
      'both',
      '/token?grant_type=password',
      { email: 'a@b.co', phone: '1', password: PASSWORD },
      'validation_failed',
      'Only an email address or phone number should be provided on login.',
    ],
  ])('rejects %s', async (_name, path, body, code, message) => {
    const response = await world.request('POST', path, { body });
    expect(response.status).toBe(400);
    expect(response.body).toEqual({ code, message });
  });
});

const signIn = async (email: string): Promise<WireBody> =>
  (await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } })).body;
const isAlive = async (token: string): Promise<boolean> =>
  (await world.request('GET', '/user', { token })).status === 200;

describe('signing out', () => {
  test('with scope global ends every session of the user and of no other user', async () => {
    const { email, access, refresh } = await world.signUpUser();
    const other = await world.signUpUser();
    const second = await signIn(email);
    const { status, body } = await world.request('POST', '/logout', { token: access });
    expect([status, body]).toEqual([204, '']);
    expect(await Promise.all([access, second.access_token, other.access].map(isAlive))).toEqual([false, false, true]);
    const renewed = await world.request('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: refresh },
    });
    expect(renewed.body.code).toBe('refresh_token_not_found');
  });

  test('with scope local ends this session, with scope others all but this one', async () => {
    const { email, access } = await world.signUpUser();
    const [second, third] = [await signIn(email), await signIn(email)];
    await world.request('POST', '/logout?scope=local', { token: access });
    expect(await Promise.all([access, second.access_token, third.access_token].map(isAlive))).toEqual([
      false,
      true,
      true,
    ]);
    await world.request('POST', '/logout?scope=others', { token: second.access_token });
    expect(await Promise.all([second.access_token, third.access_token].map(isAlive))).toEqual([true, false]);
  });

  test('takes effect on the data API at once', async () => {
    const client = world.client();
    await client.auth.signUp({ email: newAddress(), password: PASSWORD });
    const token = (await client.auth.getSession()).data.session!.access_token;
    const read = () => fetch(`${world.url}/rest/v1/profiles`, { headers: { Authorization: `Bearer ${token}` } });
    expect((await read()).status).toBe(200);
    expect((await client.auth.signOut()).error).toBeNull();
    expect((await read()).status).toBe(401);
  });

  test('rejects an unknown scope, a missing token and an ended session', async () => {
    const { access } = await world.signUpUser();
    const unknown = await world.request('POST', '/logout?scope=galaxy', { token: access });
    expect([unknown.status, unknown.body.message]).toEqual([400, 'Unsupported logout scope "galaxy"']);
    expect((await world.request('POST', '/logout')).status).toBe(401);
    await world.request('POST', '/logout', { token: access });
    const dead = await world.request('POST', '/logout', { token: access });
    expect([dead.status, dead.body.code]).toEqual([403, 'session_not_found']);
  });
});

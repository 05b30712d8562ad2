/** Anonymous sign-in and its conversion to a permanent account (docs/specification/api.md 8 and 12). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, tokenHashIn, newAddress, startAuthWorld, type AuthWorld } from './fixture.ts';

const HOUR = 3_600_000;
const claimsIn = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

async function anonymous(world: AuthWorld, data = {}) {
  const { status, body } = await world.request('POST', '/signup', { body: { data } });
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: body.user.id as string, access: body.access_token as string, refresh: body.refresh_token as string };
}
const signIn = (world: AuthWorld, email: string) =>
  world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });

test('anonymous sign-in is disabled unless it is switched on, in both error formats', async () => {
  const world = await startAuthWorld();
  try {
    const { error } = await world.client().auth.signInAnonymously();
    expect(error).toMatchObject({ status: 422, code: 'anonymous_provider_disabled' });
    const old = await world.request('POST', '/signup', { body: {}, headers: { 'X-Supabase-Api-Version': '' } });
    expect([old.status, old.body]).toEqual([
      422,
      { code: 422, error_code: 'anonymous_provider_disabled', msg: 'Anonymous sign-ins are disabled' },
    ]);
  } finally {
    await world.close();
  }
});

describe('with autoconfirm', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_ANONYMOUS: 'on' });
  });
  afterAll(() => world.close());

  test('the real client signs in without an address, and each call creates another user', async () => {
    const client = world.client();
    const { data, error } = await client.auth.signInAnonymously({ options: { data: { theme: 'dark' } } });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({
      is_anonymous: true,
      email: '',
      phone: '',
      role: 'authenticated',
      aud: 'authenticated',
      app_metadata: {},
      user_metadata: { theme: 'dark' },
      identities: [],
    });
    const claims = claimsIn(data.session!.access_token);
    expect(claims).toMatchObject({ is_anonymous: true, email: '', aal: 'aal1', amr: [{ method: 'anonymous' }] });
    const other = await world.client().auth.signInAnonymously();
    expect(other.data.user?.id).not.toBe(data.user?.id);
    const profile = await client.from('profiles').select('id');
    expect(profile.data).toEqual([{ id: data.user?.id }]);
    const { rows } = await world.admin.query(
      `select event, details from auth.audit_log where user_id = $1 order by id`,
      [data.user?.id],
    );
    expect(rows).toEqual([
      { event: 'signed_up', details: { method: 'anonymous' } },
      { event: 'signed_in', details: { method: 'anonymous' } },
    ]);
  });

  test('an address and a password make the user permanent at once, in the same session', async () => {
    const { id, access, refresh } = await anonymous(world, { theme: 'dark' });
    const email = newAddress();
    const changed = await world.request('PUT', '/user', { token: access, body: { email, password: PASSWORD } });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      id,
      email,
      is_anonymous: false,
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { theme: 'dark', email, email_verified: true, sub: id },
      identities: [{ provider: 'email', identity_data: { email } }],
    });
    expect(changed.body.email_confirmed_at).toBeTruthy();
    expect(changed.body.new_email).toBeUndefined();
    const renewed = await world.request('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: refresh },
    });
    expect(claimsIn(renewed.body.access_token)).toMatchObject({ is_anonymous: false, email });
    expect((await signIn(world, email)).body.user.id).toBe(id);
    expect(world.mailbox.messagesTo(email).map(({ subject }) => subject)).not.toContain('Confirm your email address');
  });

  test('a taken address is refused, also when two users take a free one at the same time', async () => {
    const { email } = await world.signUpUser();
    const { access } = await anonymous(world);
    const taken = await world.request('PUT', '/user', { token: access, body: { email } });
    expect([taken.status, taken.body]).toEqual([
      422,
      { code: 'email_exists', message: 'A user with this email address has already been registered' },
    ]);
    const [free, one, other] = [newAddress(), await anonymous(world), await anonymous(world)];
    const both = await Promise.all(
      [one, other].map((user) => world.request('PUT', '/user', { token: user.access, body: { email: free } })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });

  test('a permanent user must still confirm both addresses', async () => {
    const { access } = await anonymous(world);
    const [first, second] = [newAddress(), newAddress()];
    await world.request('PUT', '/user', { token: access, body: { email: first } });
    const { body } = await world.request('PUT', '/user', { token: access, body: { email: second } });
    expect(body).toMatchObject({ email: first, new_email: second });
    await Promise.all([world.waitForMail(first), world.waitForMail(second)]);
  });

  test('a password without an address is refused', async () => {
    const { access } = await anonymous(world);
    const response = await world.request('PUT', '/user', { token: access, body: { password: PASSWORD } });
    expect([response.status, response.body]).toEqual([
      422,
      {
        code: 'validation_failed',
        message: 'Updating password of an anonymous user without an email or phone is not allowed',
      },
    ]);
  });

  test('an old session needs no code, because there is no address to send one to', async () => {
    const { refresh } = await anonymous(world);
    world.clock.advance(25 * HOUR);
    const renewed = await world.request('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: refresh },
    });
    const token = renewed.body.access_token;
    const asked = await world.request('GET', '/reauthenticate', { token });
    expect([asked.status, asked.body.code]).toEqual([400, 'validation_failed']);
    const email = newAddress();
    expect((await world.request('PUT', '/user', { token, body: { email, password: PASSWORD } })).status).toBe(200);
  });

  test('metadata over the limit is refused', async () => {
    const { status } = await world.request('POST', '/signup', { body: { data: { x: 'x'.repeat(9_000) } } });
    expect(status).toBe(400);
  });
});

describe('with confirmation by mail', () => {
  let world: AuthWorld;
  beforeAll(async () => {
    world = await startAuthWorld({ AUTH_ANONYMOUS: 'on', AUTH_AUTOCONFIRM: 'off' });
  });
  afterAll(() => world.close());

  test('the user stays anonymous until the new address confirms, and then signs in with the password', async () => {
    const { id, access } = await anonymous(world);
    const email = newAddress();
    const asked = await world.request('PUT', '/user', { token: access, body: { email, password: PASSWORD } });
    expect(asked.body).toMatchObject({ email: '', new_email: email, is_anonymous: true });
    expect((await signIn(world, email)).body.code).toBe('invalid_credentials');
    const mail = await world.waitForMail(email);
    expect(mail.subject).toBe('Confirm your email address');
    expect(mail.text).not.toContain('Both addresses');
    const body = { type: 'email_change', token_hash: tokenHashIn(mail) };
    const confirmed = await world.request('POST', '/verify', { body });
    expect(confirmed.body.user).toMatchObject({ id, email, is_anonymous: false, identities: [{ provider: 'email' }] });
    expect(claimsIn(confirmed.body.access_token).is_anonymous).toBe(false);
    expect((await signIn(world, email)).body.user.id).toBe(id);
  });

  test('a taken address is answered like a free one, and its owner gets a mail', async () => {
    const owner = newAddress();
    await world.request('POST', '/signup', { body: { email: owner, password: PASSWORD } });
    const { code } = await world.waitForMail(owner);
    await world.request('POST', '/verify', { body: { type: 'signup', email: owner, token: code } });
    const shapes = [];
    for (const email of [owner, newAddress()]) {
      const { access } = await anonymous(world);
      const { status, body } = await world.request('PUT', '/user', { token: access, body: { email } });
      shapes.push([status, Object.keys(body), body.new_email === email]);
    }
    expect(shapes[0]).toEqual(shapes[1]);
    expect((await world.waitForMail(owner, 2)).subject).toBe('You already have an account');
  });
});

test('a network gets 429 after thirty anonymous sign-ins in an hour', async () => {
  const world = await startAuthWorld({
    AUTH_ANONYMOUS: 'on',
    AUTH_RATE_LIMITS: 'on',
    CLIENT_ADDRESS_HEADER: 'X-Real-Ip',
  });
  try {
    const from = (ip: string) => world.request('POST', '/signup', { body: {}, headers: { 'X-Real-Ip': ip } });
    for (let count = 0; count < 2; count += 1) expect((await from('192.0.2.1')).status).toBe(200);
    // Simulates 28 more sign-ins of this network within the hour, without the limit for all kinds of sign-ups.
    const { rows } = await world.admin.query(
      `update auth.rate_limits set points = points + 28 where key like 'anonymous:%' returning points`,
    );
    expect(rows).toEqual([{ points: 30 }]);
    const limited = await from('192.0.2.1');
    expect([limited.status, limited.body.code]).toEqual([429, 'over_request_rate_limit']);
    expect((await from('192.0.2.2')).status).toBe(200);
  } finally {
    await world.close();
  }
});

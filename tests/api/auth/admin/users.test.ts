/** The admin routes, driven by the real client's `auth.admin` with a service token. */
import { randomUUID } from 'node:crypto';
import { SignJWT, decodeJwt, importJWK } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAccessTokens } from '#server/auth/keys/access-tokens.ts';
import { keySource, readKeys } from '#server/auth/keys/key-file.ts';
import { loadSigningKeys } from '#server/auth/keys/signing-keys.ts';
import { createLog } from '#server/log.ts';
import { waitUntilBlocked } from '../block-request.ts';
import { setUpAuthWorld, PASSWORD, tokenHashIn, newAddress, type AuthWorld } from '../fixture.ts';

const world = setUpAuthWorld();
let admin: Awaited<ReturnType<AuthWorld['adminClient']>>['auth']['admin'];
let token: string;
beforeAll(async () => {
  token = await world.serviceToken();
  ({ admin } = (await world.adminClient()).auth);
});

const NO_KEY_FILE = { signingKeyFile: null };

type Rows = Record<string, unknown>[];
const auditOf = async (userId: string): Promise<Rows> =>
  (
    await world.admin.query<Record<string, unknown>>(
      'select event, actor, details from auth.audit_log where user_id = $1 order by id',
      [userId],
    )
  ).rows;

async function createTestUser(attributes: Parameters<typeof admin.createUser>[0] = {}) {
  const { data, error } = await admin.createUser({ email: newAddress(), email_confirm: true, ...attributes });
  expect(error).toBeNull();
  return data.user!;
}

async function signIn(email: string, password: string = PASSWORD) {
  return world.client().auth.signInWithPassword({ email, password });
}

/** The status of a request to /rest/v1, for which the server caches that a session exists. */
const readEntries = async (access: string): Promise<number> =>
  (await fetch(`${world.url}/rest/v1/entries?select=date`, { headers: { Authorization: `Bearer ${access}` } })).status;

/** Signs any claims with the server's key. */
async function signClaims(claims: Record<string, unknown>, { endless = false } = {}): Promise<string> {
  const { signing } = await readKeys(keySource(NO_KEY_FILE, world.database));
  const key = await importJWK(signing.privateJwk, signing.algorithm);
  const unsigned = new SignJWT(claims).setProtectedHeader({ alg: signing.algorithm, kid: signing.kid });
  return (endless ? unsigned : unsigned.setExpirationTime('1h')).sign(key);
}

describe('only a service token', () => {
  const routes = [
    ['GET', '/admin/users'],
    ['POST', '/admin/users'],
    ['GET', '/admin/users/no-uuid'],
    ['PUT', '/admin/users/no-uuid'],
    ['DELETE', '/admin/users/no-uuid'],
    ['GET', '/admin/audit'],
  ] as const;

  test.each(routes)('opens %s %s', async (method, path) => {
    const { access } = await world.signUpUser();
    const options = method === 'GET' ? {} : { body: {} };
    const answer = async (bearer?: string) => {
      const { status, body } = await world.request(method, path, { ...options, ...(bearer && { token: bearer }) });
      return `${status} ${body.code}`;
    };
    expect(await answer()).toBe('401 no_authorization');
    expect(await answer(world.config.publishableKey)).toBe('403 bad_jwt');
    expect(await answer(access)).toBe('403 not_admin');
    const [claims] = [{ role: 'service_role', session_id: randomUUID() }];
    expect(await answer(await signClaims(claims)), 'a session of a user with an admin role').toBe('403 not_admin');
    expect(await answer(token)).not.toMatch(/^40[13]/);
    expect(await answer(await signClaims({ role: 'supabase_admin' }))).not.toMatch(/^40[13]/);
  });

  test.each(['service_role', 'supabase_admin'])('without an end opens an admin route as %s', async (role) => {
    const endless = await signClaims({ role }, { endless: true });
    expect((await world.request('GET', '/admin/users', { token: endless })).status).toBe(200);
    // The answer from the cache of verified tokens.
    expect((await world.request('GET', '/admin/users', { token: endless })).status).toBe(200);
  });

  test('without an end is refused for any other role, a session and a user', async () => {
    const { id } = await world.signUpUser();
    for (const claims of [
      { role: 'authenticated', sub: id },
      { role: 'connection_probe' },
      { role: 'service_role', session_id: randomUUID() },
      { role: 'service_role', sub: id },
      {},
    ]) {
      const endless = await signClaims(claims, { endless: true });
      for (const path of ['/admin/users', '/admin/connection', '/user']) {
        const { status, body } = await world.request('GET', path, { token: endless });
        expect([status, body.code], JSON.stringify(claims)).toEqual([403, 'bad_jwt']);
      }
      expect(await readEntries(endless)).toBe(401);
    }
  });

  test('opens an admin route: the refusal has the old error format for old clients', async () => {
    const headers = { 'X-Supabase-Api-Version': '' };
    const { access } = await world.signUpUser();
    const { status, body } = await world.request('GET', '/admin/users', { token: access, headers });
    expect({ status, body }).toEqual({
      status: 403,
      body: { code: 403, error_code: 'not_admin', msg: 'User not allowed' },
    });
  });
});

describe('creating a user', () => {
  test('stores what was passed and nothing else', async () => {
    const [email, id] = [newAddress(), randomUUID()];
    const { data } = await admin.createUser({
      id,
      email: email.toUpperCase(),
      password: PASSWORD,
      user_metadata: { name: 'Ana' },
      app_metadata: { team: 'blue' },
    });
    expect(data.user).toMatchObject({ id, email, role: 'authenticated', is_anonymous: false });
    expect(data.user!.user_metadata).toEqual({ name: 'Ana' });
    expect(data.user!.app_metadata).toEqual({ provider: 'email', providers: ['email'], team: 'blue' });
    expect(data.user!.email_confirmed_at).toBeUndefined();
    expect(data.user!.identities).toMatchObject([
      { provider: 'email', identity_data: { email, email_verified: false, sub: id } },
    ]);
    expect(await auditOf(id)).toEqual([{ event: 'created_by_admin', actor: 'service', details: {} }]);
    const { rows } = await world.admin.query('select 1 from public.profiles where id = $1', [id]);
    expect(rows).toHaveLength(1);
  });

  test('confirms the address on request, so that the user can sign in', async () => {
    const user = await createTestUser({ password: PASSWORD });
    expect(user.email_confirmed_at).toBeDefined();
    expect(user.user_metadata).toEqual({ email_verified: true });
    const { data } = await signIn(user.email!);
    expect(data.user!.id).toBe(user.id);
    const unconfirmed = await createTestUser({ password: PASSWORD, email_confirm: false });
    expect((await signIn(unconfirmed.email!)).error?.code).toBe('email_not_confirmed');
  });

  test('takes an argon2id hash of the password', async () => {
    const { rows } = await world.admin.query<{ password_hash: string }>(
      'select password_hash from auth.users where id = $1',
      [(await world.signUpUser()).id],
    );
    const user = await createTestUser({ password_hash: rows[0]!.password_hash });
    expect((await signIn(user.email!)).error).toBeNull();
  });

  const costly = `$argon2id$v=19$m=999999,t=2,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`;
  test.each([
    [{}, 400, 'validation_failed', 'Cannot create a user without either an email or phone'],
    [{ email: 'no address' }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
    [{ email: 'a@b.c', password: 'short' }, 422, 'weak_password', 'Password should be at least 6 characters.'],
    [{ email: 'a@b.c', password: PASSWORD, password_hash: 'x' }, 400, 'validation_failed', 'Only a password or'],
    [{ email: 'a@b.c', password_hash: '$2b$10$x' }, 400, 'validation_failed', 'must be argon2id'],
    [{ email: 'a@b.c', password_hash: costly }, 400, 'validation_failed', 'must be argon2id'],
    [{ email: 'a@b.c', ban_duration: '1 day' }, 400, 'validation_failed', 'invalid format for ban duration: 1 day'],
    [{ email: 'a@b.c', role: 'service_role' }, 400, 'validation_failed', 'cannot be an administrator’s'],
    [{ email: 'a@b.c', role: 'anon' }, 400, 'validation_failed', 'cannot be an administrator’s'],
    [{ email: 'a@b.c', id: 'seven' }, 400, 'validation_failed', 'ID must conform to the uuid v4 format'],
    [{ email: 'a@b.c', id: '00000000-0000-0000-0000-000000000000' }, 400, 'validation_failed', 'nil uuid'],
    [{ email: 'a@b.c', email_confirm: 'yes' }, 400, 'bad_json', 'email_confirm must be a boolean'],
    [{ email: 'a@b.c', app_metadata: { big: 'x'.repeat(9_000) } }, 400, 'validation_failed', '8192 bytes'],
  ])('%j is rejected', async (attributes, status, code, text) => {
    const { error } = await admin.createUser(attributes as never);
    expect(error).toMatchObject({ status, code, message: expect.stringContaining(text) });
  });

  test('accepts a phone number without an e-mail address', async () => {
    const { data, error } = await admin.createUser({ phone: '+49 151 00001111', phone_confirm: true });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({ email: '', phone: '4915100001111', phone_confirmed_at: expect.any(String) });
    expect(data.user!.app_metadata).toEqual({ provider: 'phone', providers: ['phone'] });
    expect(data.user!.identities).toMatchObject([{ provider: 'phone', identity_data: { phone_verified: true } }]);
    expect((await admin.createUser({ phone: '4915100001111' })).error).toMatchObject({
      status: 422,
      code: 'phone_exists',
    });
    expect((await admin.createUser({ phone: '0151' })).error).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  test('rejects a taken address and a taken id', async () => {
    const { email, id } = await createTestUser();
    expect((await admin.createUser({ email: email! })).error).toMatchObject({ status: 422, code: 'email_exists' });
    expect((await admin.createUser({ email: newAddress(), id })).error).toMatchObject({ code: 'user_already_exists' });
  });
});

describe('listing users', () => {
  test('returns them in pages, newest first', async () => {
    const before = (await admin.listUsers()).data as { total: number };
    const newest = [await createTestUser(), await createTestUser(), await createTestUser()]
      .map(({ id }) => id)
      .toReversed();
    const first = await admin.listUsers({ page: 1, perPage: 2 });
    expect(first.error).toBeNull();
    const total = before.total + 3;
    expect(first.data).toMatchObject({ aud: 'authenticated', nextPage: 2, total, lastPage: Math.ceil(total / 2) });
    const second = await admin.listUsers({ page: 2, perPage: 1 });
    expect([...first.data.users, ...second.data.users].map(({ id }) => id)).toEqual([newest[0], newest[1], newest[1]]);
    expect(first.data.users[0]!.identities).toHaveLength(1);
  });

  test('tells the number of users and the last page in the headers', async () => {
    await createTestUser();
    const { headers, body } = await world.request('GET', '/admin/users?page=999&per_page=1', { token });
    expect(body.users).toEqual([]);
    const { rows } = await world.admin.query<{ total: number }>('select count(*)::int as total from auth.users');
    const { total } = rows[0]!;
    expect(headers.get('x-total-count')).toBe(String(total));
    expect(headers.get('link')).toBe(`</auth/v1/admin/users?page=${total}&per_page=1>; rel="last"`);
  });

  const list = async (query: string) => {
    const { body, headers } = await world.request('GET', `/admin/users?${query}`, { token });
    const emails = (body.users as { email: string }[]).map(({ email }) => email);
    return { emails, total: headers.get('x-total-count'), link: headers.get('link') };
  };

  test('takes page 0 as the first page', async () => {
    const { emails } = await list('page=0&per_page=3');
    expect(emails).toEqual((await list('page=1&per_page=3')).emails);
  });

  test('finds users by a part of the address or the name', async () => {
    const [mark, other] = [randomUUID(), randomUUID()];
    const byAddress = await createTestUser({ email: `a_${mark}@example.com` });
    const byName = await createTestUser({ user_metadata: { full_name: `Ana ${mark}` } });
    const ours = await createTestUser({ user_metadata: { name: `Bo ${mark}` } });
    await createTestUser({ email: `ax${mark}@other.example`, user_metadata: { full_name: other } });
    const found = await list(`filter=${mark.toUpperCase()}&per_page=2&sort=created_at+asc`);
    expect(found.emails).toEqual([byAddress.email, byName.email]);
    expect(found.total).toBe('4');
    expect(found.link).toContain(`?page=2&per_page=2&filter=${mark.toUpperCase()}&sort=created_at+asc>; rel="next"`);
    expect((await list(`filter=a_${mark}`)).emails, 'an underscore is no wildcard').toEqual([byAddress.email]);
    expect((await list(`filter=Bo ${mark}`)).emails).toEqual([ours.email]);
    expect(await list(`filter=${randomUUID()}`)).toMatchObject({ emails: [], total: '0' });
    expect((await list('filter=%25%27%5C')).emails).toEqual([]);
  });

  test('sorts by the time of creation in both directions', async () => {
    const mark = randomUUID();
    const emails = [1, 2, 3].map((count) => `${count}-${mark}@example.com`);
    for (const email of emails) await createTestUser({ email });
    expect((await list(`filter=${mark}&sort=created_at+asc`)).emails).toEqual(emails);
    const newestFirst = emails.toReversed();
    for (const sort of ['', '&sort=', '&sort=created_at', '&sort=created_at+DESC'])
      expect((await list(`filter=${mark}${sort}`)).emails, sort).toEqual(newestFirst);
  });

  test.each([
    ['sort=email', "Bad Sort Parameters: bad field for sort 'email'"],
    ['sort=created_at+up', "Bad Sort Parameters: bad direction for sort 'up', only 'asc' and 'desc' allowed"],
    ['sort=created_at&sort=id+asc', "Bad Sort Parameters: bad field for sort 'id'"],
    ['filter=%00', 'Text must be valid Unicode without null characters'],
  ])('rejects %s', async (query, message) => {
    const { status, body } = await world.request('GET', `/admin/users?${query}`, { token });
    expect([status, body]).toEqual([400, { code: 'validation_failed', message }]);
  });

  test.each(['page=-1', 'per_page=0', 'per_page=x', 'page=1e3', 'page=99999999999'])('rejects %s', async (query) => {
    const { status, body } = await world.request('GET', `/admin/users?${query}`, { token });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_failed' });
  });
});

describe('reading and changing a user', () => {
  test.each(['GET', 'PUT', 'DELETE'] as const)(
    '%s answers 404 for an id that is no UUID or nobody’s',
    async (method) => {
      const options = { token, ...(method === 'PUT' && { body: {} }) };
      expect(await world.request(method, '/admin/users/me', options)).toMatchObject({
        status: 404,
        body: { code: 'validation_failed', message: 'user_id must be an UUID' },
      });
      expect(await world.request(method, `/admin/users/${randomUUID()}`, options)).toMatchObject({
        status: 404,
        body: { code: 'user_not_found', message: 'User not found' },
      });
    },
  );

  test('reads a user with identities', async () => {
    const user = await createTestUser();
    expect((await admin.getUserById(user.id)).data.user).toEqual(user);
  });

  test('merges metadata and removes keys that are null', async () => {
    const { id } = await createTestUser({ user_metadata: { a: 1, b: 1 }, app_metadata: { c: 1 } });
    const { data } = await admin.updateUserById(id, {
      user_metadata: { a: null, d: 2 },
      app_metadata: { c: null, plan: 'x' },
    });
    expect(data.user!.user_metadata).toEqual({ b: 1, d: 2, email_verified: true });
    expect(data.user!.app_metadata).toEqual({ provider: 'email', providers: ['email'], plan: 'x' });
    expect((await auditOf(id)).at(-1)).toEqual({
      event: 'changed_by_admin',
      actor: 'service',
      details: { fields: ['user_metadata', 'app_metadata'] },
    });
  });

  test('a new address takes effect at once, in the identity too, and ends links to the old one', async () => {
    const { email: oldEmail, id } = await world.signUpUser();
    await world.request('POST', '/recover', { body: { email: oldEmail } });
    const { code } = await world.waitForMail(oldEmail);
    const email = newAddress();
    const { data } = await admin.updateUserById(id, { email });
    expect(data.user).toMatchObject({ email, user_metadata: { email } });
    expect(data.user!.identities).toMatchObject([{ identity_data: { email } }]);
    expect((await signIn(email)).error).toBeNull();
    const verified = await world.request('POST', '/verify', {
      body: { type: 'recovery', email: oldEmail, token: code },
    });
    expect(verified.body.code).toBe('otp_expired');
    const { email: taken } = await world.signUpUser();
    expect((await admin.updateUserById(id, { email: taken })).error?.code).toBe('email_exists');
  });

  test('a phone number is one more way to sign in', async () => {
    const { id } = await world.signUpUser();
    const { data } = await admin.updateUserById(id, { phone: '+4915100002222' });
    expect(data.user).toMatchObject({
      phone: '4915100002222',
      app_metadata: { provider: 'email', providers: ['email', 'phone'] },
    });
    expect(data.user!.phone_confirmed_at).toBeUndefined();
    const confirmed = await admin.updateUserById(id, { phone_confirm: true });
    expect(confirmed.data.user!.phone_confirmed_at).toBeDefined();
    expect((await auditOf(id)).at(-1)).toMatchObject({ details: { fields: ['phone_confirm'] } });
  });

  test('a new password ends every session and link at once', async () => {
    const { email, id, access, refresh } = await world.signUpUser();
    await world.proveAddress(email);
    await world.request('POST', '/recover', { body: { email } });
    const mail = await world.waitForMailWith('Reset your password', email);
    expect(await readEntries(access)).toBe(200);
    await admin.updateUserById(id, { password: 'another horse' });
    expect(await readEntries(access)).toBe(401);
    const body = { type: 'recovery', token_hash: tokenHashIn(mail) };
    expect((await world.request('POST', '/verify', { body })).body.code).toBe('otp_expired');
    expect((await world.request('GET', '/user', { token: access })).body.code).toBe('session_not_found');
    const renewed = await world.request('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: refresh },
    });
    expect(renewed.body.code).toBe('refresh_token_not_found');
    expect((await signIn(email)).error?.code).toBe('invalid_credentials');
    expect((await signIn(email, 'another horse')).error).toBeNull();
  });

  test('confirms an address', async () => {
    const { id, email } = await createTestUser({ password: PASSWORD, email_confirm: false });
    const { data } = await admin.updateUserById(id, { email_confirm: true });
    expect(data.user!.identities![0]!.identity_data!['email_verified']).toBe(true);
    expect(data.user!.user_metadata).toEqual({ email_verified: true });
    expect((await signIn(email!)).error).toBeNull();
  });

  test('a ban closes the account and its data until it ends, and sessions continue afterwards', async () => {
    const { email, id, access, refresh } = await world.signUpUser();
    const readsData = async (): Promise<number> =>
      (await fetch(`${world.url}/rest/v1/entries`, { headers: { Authorization: `Bearer ${access}` } })).status;
    expect(await readsData()).toBe(200);
    const { data } = await admin.updateUserById(id, { ban_duration: '20m' });
    expect(Date.parse(data.user!.banned_until!)).toBeGreaterThan(Date.now() + 1_100_000);
    expect((await world.request('GET', '/user', { token: access })).body.code).toBe('user_banned');
    const renew = () => world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
    expect((await renew()).body).toMatchObject({ code: 'user_banned' });
    expect((await signIn(email)).error?.code).toBe('user_banned');
    world.clock.advance(31_000);
    expect(await readsData()).toBe(401);

    world.clock.advance(1_200_000);
    expect(await readsData()).toBe(200);
    await admin.updateUserById(id, { ban_duration: '24h' });
    const lifted = await admin.updateUserById(id, { ban_duration: 'none' });
    expect(lifted.data.user!.banned_until).toBeUndefined();
    expect((await signIn(email)).error).toBeNull();
    expect((await auditOf(id)).filter(({ actor }) => actor === 'service').map(({ event }) => event)).toEqual([
      'banned',
      'banned',
      'unbanned',
    ]);
  });
});

describe('deleting a user', () => {
  const write = (access: string, userId: string) =>
    fetch(`${world.url}/rest/v1/entries`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: userId, date: new Date().toISOString().slice(0, 10), content: '<p>Shipped</p>' }),
    });
  const entriesOf = async (userId: string): Promise<number | null> =>
    (await world.admin.query('select 1 from public.entries where user_id = $1', [userId])).rowCount;

  test('removes the account and its logs for good', async () => {
    const { email, id, access } = await world.signUpUser();
    expect((await write(access, id)).status).toBe(201);
    const { data, error } = await admin.deleteUser(id);
    expect(error).toBeNull();
    expect(data.user!.email).toBe(email);
    expect((await admin.getUserById(id)).error?.code).toBe('user_not_found');
    expect(await entriesOf(id)).toBe(0);
    expect((await write(access, id)).status).toBe(401);
    expect((await world.signUpUser(email)).id).not.toBe(id);
    expect((await admin.deleteUser(id)).error?.code).toBe('user_not_found');
    const { rows } = await world.admin.query(
      "select actor, user_id from auth.audit_log where event = 'deleted' order by id desc limit 1",
    );
    expect(rows).toEqual([{ actor: 'service', user_id: null }]);
  });

  test('with `should_soft_delete` keeps id and logs, and nobody can open the account again', async () => {
    const { email, id, access, refresh } = await world.signUpUser();
    await write(access, id);
    expect((await admin.deleteUser(id, true)).error).toBeNull();
    const { data } = await admin.getUserById(id);
    expect(data.user).toMatchObject({
      id,
      email: '',
      user_metadata: {},
      app_metadata: {},
      identities: [],
      deleted_at: expect.any(String),
    });
    expect(await entriesOf(id)).toBe(1);
    expect((await world.request('GET', '/user', { token: access })).body.code).toBe('session_not_found');
    const renewed = await world.request('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: refresh },
    });
    expect(renewed.body.code).toBe('refresh_token_not_found');
    expect((await signIn(email)).error?.code).toBe('invalid_credentials');
    expect((await admin.updateUserById(id, { email })).error?.code).toBe('user_not_found');
    expect((await auditOf(id)).at(-1)).toEqual({ event: 'deleted', actor: 'service', details: { soft: true } });
    expect((await world.signUpUser(email)).id).not.toBe(id);
  });
});

describe('an access token', () => {
  test('opens nothing with the session of another user', async () => {
    const [ana, ben] = [await world.signUpUser(), await world.signUpUser()];
    const { session_id } = decodeJwt(ben.access);
    const claims = { aud: 'authenticated', role: 'authenticated', aal: 'aal1', session_id };
    expect(await readEntries(await signClaims({ ...claims, sub: ben.id }))).toBe(200);
    world.clock.advance(30_000);
    expect(await readEntries(await signClaims({ ...claims, sub: ana.id }))).toBe(401);
  });

  test('is refused again if its session ends while a request checks it', async () => {
    const { access } = await world.signUpUser();
    const { config, clock, database } = world;
    const { dataDir } = config;
    const keys = await loadSigningKeys({ ...NO_KEY_FILE, dataDir, database, clock, log: createLog('error') });
    const tokens = createAccessTokens({ keys, issuer: '', clock, database });
    const { session_id } = decodeJwt(access);
    const other = await world.admin.connect();
    try {
      await other.query('begin; lock table auth.sessions');
      const checking = tokens.verify(access);
      await waitUntilBlocked(world.admin);
      tokens.invalidateSessions([String(session_id)]);
      await other.query('commit');
      await checking;
    } finally {
      other.release();
    }
    await world.admin.query('delete from auth.sessions where id = $1', [session_id]);
    await expect(tokens.verify(access)).rejects.toMatchObject({ reason: 'session_ended' });
  });
});

describe('the audit log', () => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const list = async (query: string) => {
    const { status, headers, body } = await world.request('GET', `/admin/audit?${query}`, { token });
    expect(status, JSON.stringify(body)).toBe(200);
    return { headers, entries: body as { id: string; payload: Record<string, unknown> }[] };
  };
  const actionsOf = async (query: string) =>
    (await list(`query=${encodeURIComponent(query)}`)).entries.map(({ payload }) => payload['action']);

  test('is listed newest first, in the form of the original', async () => {
    const { id, email } = await createTestUser();
    const { headers, entries } = await list('per_page=1');
    expect(entries).toEqual([
      {
        id: expect.stringMatching(UUID),
        payload: {
          action: 'user_signedup',
          log_type: 'team',
          actor_id: '00000000-0000-0000-0000-000000000000',
          actor_username: 'service_role',
          actor_via_sso: false,
          traits: { user_id: id, user_email: email },
          event: 'created_by_admin',
          actor_type: 'service',
          user_agent: expect.any(String),
        },
        created_at: expect.any(String),
        ip_address: expect.any(String),
      },
    ]);
    expect(headers.get('link')).toContain('page=2&per_page=1>; rel="next"');
    const [, second] = (await list('per_page=2')).entries;
    expect(second!.id).not.toBe(entries[0]!.id);
    expect((await list('page=2&per_page=1')).entries[0]!.id, 'the id stays').toBe(second!.id);
  });

  test('names the user who acts', async () => {
    const person = await createTestUser({ password: PASSWORD, user_metadata: { full_name: 'Ana Costa' } });
    await signIn(person.email!);
    const [entry] = (await list('per_page=1')).entries;
    expect(entry!.payload).toMatchObject({
      action: 'login',
      log_type: 'account',
      actor_id: person.id,
      actor_username: person.email,
      actor_name: 'Ana Costa',
      actor_via_sso: false,
      traits: { method: 'password' },
      event: 'signed_in',
      actor_type: 'user',
    });
  });

  test('is searched by author, action and type', async () => {
    const name = `Zoe ${randomUUID()}`;
    const person = await createTestUser({ password: PASSWORD, user_metadata: { full_name: name } });
    await signIn(person.email!);
    expect(await actionsOf(`author:${person.email!.toUpperCase()}`)).toEqual(['login']);
    expect(await actionsOf(`author:${name}`)).toEqual(['login']);
    expect(await actionsOf(`author:${randomUUID()}`)).toEqual([]);
    expect(new Set(await actionsOf('action:logi'))).toEqual(new Set(['login']));
    expect(await actionsOf('action:%')).toEqual([]);
    const team = await actionsOf('type:team');
    expect(team).toContain('user_signedup');
    expect(team).not.toContain('login');
    expect((await actionsOf('author:service_rol'))[0]).toBe('user_signedup');
  });

  test.each(['planet:mars', 'author', 'constructor:x'])('rejects the search %s', async (query) => {
    const { status, body } = await world.request('GET', `/admin/audit?query=${query}`, { token });
    expect([status, body]).toEqual([400, { code: 'validation_failed', message: `Invalid query scope: ${query}` }]);
  });

  test('names nobody after the account was deleted', async () => {
    const person = await createTestUser({ password: PASSWORD, user_metadata: { full_name: 'Gone' } });
    await signIn(person.email!);
    await admin.deleteUser(person.id);
    const text = JSON.stringify((await list('per_page=1000')).entries);
    for (const trace of [person.id, person.email!, 'Gone']) expect(text).not.toContain(trace);
  });
});

test.each(['/admin/oauth/clients', '/admin/custom-providers'])('%s answers the JSON 404', async (path) => {
  expect(await world.request('GET', path, { token })).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

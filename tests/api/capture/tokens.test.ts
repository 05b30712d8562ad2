/** Personal access tokens: their life, and what they cannot do (docs/specification/capture.md 2 and 3). */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MAX_TOKENS } from '#domain/account/access-token.ts';
import { addDays, day, type Day } from '#domain/day/day.ts';
import { listFunctions, TOKEN_FUNCTIONS } from '#server/functions/routes.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { PASSWORD, setUpAuthWorld, waitUntilPassing, type WireBody } from '../auth/fixture.ts';
import { createFactorClient, HOUR, ok } from '../auth/factors/factor-client.ts';

const lines: string[] = [];
const world = setUpAuthWorld({}, { logTo: { write: (line) => void lines.push(line) } });
const { createProtectedPerson, signIn } = createFactorClient(world);

/** PostgreSQL's day, whatever the test's clock says. */
const today = (): Day => day(new Date().toISOString().slice(0, 10));

type Person = { id: string; email: string; access: string };
const create = (person: Person, body: object = {}) =>
  world.request('POST', '/tokens', {
    token: person.access,
    body: { name: 'Laptop', scopes: ['append', 'read'], days: 30, ...body },
  });
const tokenOf = async (person: Person, body: object = {}): Promise<WireBody> => ok(await create(person, body));
const list = async (person: Person): Promise<WireBody> =>
  ok(await world.request('GET', '/tokens', { token: person.access })).tokens;

const readBody = (text: string): WireBody => (text.startsWith('{') ? JSON.parse(text) : text);

async function call(token: string, name: string, body: object = {}, method = 'POST', path = `/functions/v1/${name}`) {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: readBody(text) };
}
const append = (token: string, text = 'by token', more: object = {}) =>
  call(token, 'append-item', { text, date: today(), ...more });

async function textOf(userId: string): Promise<string> {
  const { rows } = await world.admin.query<{ text: string }>(
    "select string_agg(content_text, '|') as text from entries where user_id = $1",
    [userId],
  );
  return rows[0]!.text ?? '';
}

describe('a token', () => {
  test('is shown once, hashed in the database, listed and used', async () => {
    const ana = await world.signUpUser();
    const made = await tokenOf(ana, { name: '  My \n laptop ', time_zone: 'Pacific/Kiritimati' });
    expect(made.token).toMatch(/^hforge_[\w-]{64}$/);
    expect(made).toMatchObject({ name: 'My laptop', scopes: ['append', 'read'], last_used_at: null });
    const { rows } = await world.admin.query('select t::text as row from access_tokens t where user_id = $1', [ana.id]);
    expect(rows).toHaveLength(1);
    expect(rows[0].row).not.toContain(made.token.slice(7));
    // Without a date: today in the zone of the browser that made it.
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Kiritimati', dateStyle: 'short' });
    expect(await call(made.token, 'append-item', { text: 'here' })).toMatchObject({
      status: 200,
      json: { date: date.format(world.clock.now()) },
    });
    const [listed, ...others] = await list(ana);
    expect(others).toEqual([]);
    expect({ ...listed, token: made.token }).toEqual({ ...made, last_used_at: expect.any(String) });
  });

  test('reads days as Markdown and finds words, and the plan hides locked days', async () => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana);
    await append(token, 'Shipped *it*\nFixed the build');
    await world.admin.query('insert into entries (user_id, date, content) values ($1, $2, $3)', [
      ana.id,
      addDays(today(), -60),
      '<p>locked words</p>',
    ]);
    expect(await call(token, 'read-days', { from: today() })).toMatchObject({
      status: 200,
      json: { success: true, days: [{ date: today(), markdown: expect.stringContaining('1. Shipped \\*it\\*') }] },
    });
    const past = { from: addDays(today(), -70), to: addDays(today(), -40) };
    expect((await call(token, 'read-days', past)).json.days).toEqual([]);
    expect((await call(token, 'find-entries', { query: 'shipped' })).json.results).toHaveLength(1);
    expect((await call(token, 'find-entries', { query: 'locked' })).json.results).toEqual([]);
    const ofDay = await call(token, 'read-days', { period: 'day', time_zone: 'Etc/UTC' });
    expect(ofDay.json).toMatchObject({ success: true, from: ofDay.json.to });
    const week = await call(token, 'read-days', { period: 'week', date: '2026-11-29' });
    expect(week.json).toMatchObject({ success: true, from: '2026-11-23', to: '2026-11-29' });
    expect((await call(token, 'read-days', { period: 'week', date: '2026-11-23' })).json.from).toBe('2026-11-23');
    for (const body of [
      { period: 'year' },
      { period: 'day', date: 'x' },
      {},
      { from: 'x' },
      { from: today(), to: addDays(today(), -1) },
      { ...past, to: today() },
    ])
      expect(await call(token, 'read-days', body)).toMatchObject({ status: 400, json: { code: 'invalid_date' } });
  });

  test.each([
    ['append', ['append-item'], ['read-days', 'find-entries']],
    ['read', ['read-days', 'find-entries'], ['append-item']],
  ])('with the scope %s does nothing else', async (scope, allowed, refused) => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana, { scopes: [scope] });
    const bodies: Record<string, object> = {
      'append-item': { text: 'x', date: today() },
      'read-days': { from: today() },
      'find-entries': { query: 'x' },
    };
    for (const name of allowed) expect((await call(token, name, bodies[name])).status, name).toBe(200);
    for (const name of refused)
      expect(await call(token, name, bodies[name]), name).toMatchObject({ status: 403, json: { code: 'TOKEN_SCOPE' } });
  });

  test('opens no other address', async () => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana);
    await append(token);
    const names = [
      ...listFunctions({ ...world, limiters: createLimiters(), payments: null, coach: null } as never).keys(),
    ];
    for (const name of names.filter((each) => !TOKEN_FUNCTIONS.has(each))) {
      const method = name === 'changes' ? 'GET' : 'POST';
      expect(await call(token, name, {}, method), name).toMatchObject({ status: 403, json: { code: 'TOKEN_SCOPE' } });
    }
    for (const table of ['entries', 'profiles', 'payments', 'entry_versions', 'access_tokens', 'appended_items'])
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE'])
        expect((await call(token, '', {}, method, `/rest/v1/${table}?user_id=eq.${ana.id}`)).status).toBe(401);
    for (const [method, path] of [
      ['GET', '/user'],
      ['PUT', '/user'],
      ['GET', '/tokens'],
      ['POST', '/tokens'],
      ['GET', '/sessions'],
      ['POST', '/logout'],
      ['DELETE', '/account'],
      ['POST', '/connect/allow'],
      ['GET', '/admin/users'],
    ] as const)
      expect([401, 403], path).toContain((await call(token, '', {}, method, `/auth/v1${path}`)).status);
    expect(await textOf(ana.id)).toBe('by token');
    // A token in the address of a request is no token.
    for (const name of ['token', 'access_token', 'apikey']) {
      const response = await fetch(`${world.url}/functions/v1/append-item?${name}=${token}`, {
        method: 'POST',
        body: '{}',
      });
      expect(response.status).toBe(401);
    }
  });

  test('that is unknown, truncated, foreign or expired is refused alike', async () => {
    const [ana, ben] = [await world.signUpUser(), await world.signUpUser()];
    const { token } = await tokenOf(ana);
    const bens = (await tokenOf(ben)).token as string;
    const bytes = (text: string): Buffer => Buffer.from(text.slice(7), 'base64url');
    // Ana's id with Ben's secret, and the other way round.
    const mixed = `hforge_${Buffer.concat([bytes(token).subarray(0, 16), bytes(bens).subarray(16)]).toString('base64url')}`;
    const answers = [];
    for (const wrong of [
      token.slice(0, -1),
      `${token}A`,
      mixed,
      `hforge_${'A'.repeat(64)}`,
      'hforge_',
      token.toLowerCase(),
    ])
      answers.push(await append(wrong));
    expect((await append(token)).status).toBe(200);
    world.clock.advance(31 * 24 * HOUR);
    answers.push(await append(token));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 401, json: { code: 'TOKEN_INVALID' } });
    expect(await textOf(ben.id)).toBe('');
  });

  test('ends at once when it is revoked, and only by its owner', async () => {
    const [ana, ben] = [await world.signUpUser(), await world.signUpUser()];
    const { token, id } = await tokenOf(ana);
    expect((await append(token)).status).toBe(200);
    for (const [person, wrong] of [
      [ben, id],
      [ana, randomUUID()],
      [ana, 'x'],
    ] as const)
      expect((await world.request('DELETE', `/tokens/${wrong}`, { token: person.access })).status).toBe(404);
    expect((await append(token)).status).toBe(200);
    expect((await world.request('DELETE', `/tokens/${id}`, { token: ana.access })).status).toBe(204);
    expect((await append(token)).status).toBe(401);
    expect(await list(ana)).toEqual([]);
    const { rows } = await world.admin.query(
      "select event from auth.audit_log where user_id = $1 and event like 'token%'",
      [ana.id],
    );
    expect(rows.map(({ event }) => event).toSorted()).toEqual(['token_created', 'token_revoked']);
  });

  test.each([
    [
      'a new password',
      (ana: Person) =>
        world.request('PUT', '/user', { token: ana.access, body: { password: 'another horse battery' } }),
    ],
    ['a sign-out everywhere', (ana: Person) => world.request('POST', '/logout?scope=global', { token: ana.access })],
    [
      'a sign-out of all other devices',
      (ana: Person) => world.request('POST', '/logout?scope=others', { token: ana.access }),
    ],
  ])('ends at once with %s, also if its owner has no other session', async (_, end) => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana);
    expect((await append(token)).status).toBe(200);
    expect((await end(ana)).status).toBeLessThan(300);
    expect((await append(token)).status).toBe(401);
  });

  test('ends when its holder revokes it, and any other is answered in the same way', async () => {
    const ana = await world.signUpUser();
    const [{ token }, other] = [await tokenOf(ana), await tokenOf(ana)];
    expect((await append(token)).status).toBe(200);
    const revoke = (body: unknown, headers = {}) => world.request('POST', '/device/revoke', { body, headers });
    for (const unknown of [
      '',
      'x',
      `hforge_${'A'.repeat(64)}`,
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    ])
      expect(await revoke({ token: unknown })).toMatchObject({ status: 200, body: {} });
    expect((await append(token)).status).toBe(200);
    expect(await revoke({ token })).toMatchObject({ status: 200, body: {} });
    expect((await append(token)).status).toBe(401);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(await revoke(new URLSearchParams({ token: other.token }).toString(), form)).toMatchObject({ status: 200 });
    expect((await append(other.token)).status).toBe(401);
    const audit = "select from auth.audit_log where user_id = $1 and event = 'token_revoked'";
    expect((await world.admin.query(audit, [ana.id])).rowCount).toBe(2);
  });

  test('lives on when one device signs out', async () => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana);
    expect((await world.request('POST', '/logout?scope=local', { token: ana.access })).status).toBe(204);
    world.clock.advance(30_000);
    expect((await append(token)).status).toBe(200);
  });

  test('reads the last and the first week that a date can name', async () => {
    const { token } = await tokenOf(await world.signUpUser());
    const week = (date: string) => call(token, 'read-days', { period: 'week', date });
    expect(await week('9999-12-28')).toMatchObject({ status: 200, json: { from: '9999-12-27', to: '9999-12-31' } });
    expect(await week('0001-01-01')).toMatchObject({ status: 200, json: { from: '0001-01-01', to: '0001-01-07' } });
  });

  test('ends with the account, and rests while its owner is banned', async () => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana);
    await world.admin.query("update auth.users set banned_until = now() + interval '1 year' where id = $1", [ana.id]);
    expect((await append(token)).status).toBe(401);
    await world.admin.query('update auth.users set banned_until = null where id = $1', [ana.id]);
    expect((await append(token)).status).toBe(200);
    world.clock.advance(30_000);
    await world.admin.query('delete from auth.users where id = $1', [ana.id]);
    expect((await append(token)).status).toBe(401);
  });

  test('never stands in a log of the server', async () => {
    const ana = await world.signUpUser();
    const { token } = await tokenOf(ana);
    await append(token);
    await append(`${token}x`);
    await call(token, 'archive');
    await waitUntilPassing(() => expect(lines.some((line) => line.includes('/functions/v1/archive'))).toBe(true));
    expect(lines.filter((line) => line.includes(token.slice(7, 60)))).toEqual([]);
  });
});

describe('making a token', () => {
  test.each([
    ['no name', { name: ' \u200b ' }],
    ['a long name', { name: 'x'.repeat(61) }],
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['append', 'delete'] }],
    ['another lifetime', { days: 3650 }],
  ])('refuses %s', async (_, body) => {
    const ana = await world.signUpUser();
    expect(await create(ana, body)).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(await list(ana)).toEqual([]);
  });

  test('needs a recent sign-in, and its owner gets a mail', async () => {
    const ana = await world.signUpUser();
    world.clock.advance(25 * HOUR);
    const { access_token: access } = ok(
      await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: ana.refresh } }),
    );
    const person = { ...ana, access };
    expect(await create(person)).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    ok(await world.request('GET', '/reauthenticate', { token: access }));
    const { code } = await world.waitForMailWith('Your confirmation code', ana.email);
    await tokenOf(person, { nonce: code });
    const mail = await world.waitForMailWith('A new access token', ana.email);
    expect(mail.text).not.toContain('hforge_');
    expect(mail.links[0]).toBe(`${world.config.publicUrl}/settings`);
  });

  test('needs the second step of an account that has one', async () => {
    const person = await createProtectedPerson();
    const { access_token: access } = await signIn(person.email);
    const half = { ...person, access };
    expect(await create(half)).toMatchObject({ status: 403, body: { code: 'insufficient_aal' } });
    expect(await world.request('GET', '/tokens', { token: access })).toMatchObject({ status: 403 });
    await tokenOf({ ...person, access: person.session.access_token });
  });

  test(`stops at ${MAX_TOKENS}, and expired ones make room`, async () => {
    const ana = await world.signUpUser();
    for (let count = 0; count < MAX_TOKENS; count += 1) await tokenOf(ana);
    expect(await create(ana)).toMatchObject({ status: 422, body: { code: 'too_many_tokens' } });
    world.clock.advance(31 * 24 * HOUR);
    const { access_token: access } = ok(
      await world.request('POST', '/token?grant_type=password', { body: { email: ana.email, password: PASSWORD } }),
    );
    await tokenOf({ ...ana, access });
    expect(await list({ ...ana, access })).toHaveLength(1);
  });

  test('needs an account with an address', async () => {
    expect((await world.request('POST', '/tokens', { body: {} })).status).toBe(401);
    expect((await world.request('GET', '/tokens')).status).toBe(401);
  });
});

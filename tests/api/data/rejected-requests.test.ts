import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { daysAgo, startDataWorld, today, type DataWorld } from './fixture.ts';

let world: DataWorld;

beforeAll(async () => {
  world = await startDataWorld();
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const entries = '/rest/v1/entries';
const row = (date: string, userId: string) => ({ user_id: userId, date, content: 'x' });
const withToken = (token: string) =>
  world.request(null, 'GET', entries, { headers: { authorization: `Bearer ${token}` } });
const partsOf = (token: string) => token.split('.') as [string, string, string];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a rejected request', () => {
  test('returns all four keys', async () => {
    const { json } = await world.request(world.ana, 'GET', `${entries}?date=0`);
    expect(json).toEqual({
      code: 'PGRST100',
      message: '"failed to parse filter (0)" (line 1, column 1)',
      details: 'unexpected "0" expecting "not" or operator (eq, gt, ...)',
      hint: null,
    });
  });

  test.each<[number, string, string, string?, unknown?, Record<string, string>?]>([
    [400, 'PGRST100', `${entries}?order=date.down`],
    [400, 'PGRST100', `${entries}?or=(date.eq`],
    [400, 'PGRST100', `${entries}?select=day:date`],
    [400, 'PGRST200', `${entries}?select=id,profiles(id)`],
    [400, 'PGRST102', entries, 'POST', '{'],
    [400, 'PGRST102', entries, 'POST', ''],
    [400, 'PGRST102', entries, 'POST', '[1]'],
    [400, 'PGRST102', entries, 'POST', '['.repeat(100_000)],
    [400, 'PGRST102', entries, 'POST', [{ date: '2026-01-01' }, { content: 'x' }]],
    [400, 'PGRST102', entries, 'POST', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    [416, 'PGRST103', `${entries}?limit=-1`],
    [406, 'PGRST106', entries, 'GET', undefined, { 'accept-profile': 'auth' }],
    [406, 'PGRST106', entries, 'POST', {}, { 'content-profile': 'auth' }],
    [406, 'PGRST106', '/rest/v1/users', 'GET', undefined, { 'accept-profile': 'auth' }],
    [406, 'PGRST106', '/rest/v1/users', 'POST', {}, { 'content-profile': 'auth' }],
    [406, 'PGRST106', entries, 'PUT', {}, { 'content-profile': 'auth' }],
    [406, 'PGRST107', entries, 'GET', undefined, { accept: 'text/csv' }],
    [405, 'PGRST117', entries, 'PUT', {}],
    [404, 'PGRST125', '/rest/v1/'],
    [404, 'PGRST125', '/rest/v1/entries/1'],
    [404, 'PGRST202', '/rest/v1/rpc/first_open_day', 'POST', {}],
    [404, 'PGRST205', '/rest/v1/payment_ledger'],
    [404, 'PGRST205', '/rest/v1/constructor'],
    [404, 'PGRST205', '/rest/v1/users'],
    [400, 'PGRST204', entries, 'POST', { nope: 1 }],
    [400, 'PGRST204', entries, 'POST', '{"__proto__":{"x":1}}'],
    [400, 'PGRST204', `${entries}?columns=nope`, 'POST', [{}]],
    [400, 'PGRST204', `${entries}?date=eq.2026-01-01`, 'PATCH', { nope: 1 }],
    [400, '42703', `${entries}?nope=eq.1`],
    [400, '42703', `${entries}?select=nope`],
    [400, '42703', `${entries}?order=nope`],
    [400, '22P02', `${entries}?id=eq.abc`],
    [400, '22P02', `${entries}?revision=eq.one`],
    [400, '22P02', `${entries}?revision=eq.1.5`],
    [400, '22003', `${entries}?revision=eq.99999999999`],
    [400, '22007', `${entries}?date=eq.yesterday`],
    [400, '22007', `${entries}?date=in.(now)`],
    [400, '22007', entries, 'POST', { date: 'now', content: 'x' }],
    [400, '22007', `${entries}?date=eq.2026-01-01`, 'PATCH', { date: 20_260_102 }],
    [400, '22008', `${entries}?date=eq.2026-02-30`],
    [400, '22007', `${entries}?created_at=gt.x`],
    [400, '22P05', `${entries}?content=eq.%00`],
    [400, '22P05', '/rest/v1/profiles?id=eq.00000000-0000-0000-0000-000000000000', 'PATCH', { country: '\0' }],
    [400, '22P02', entries, 'POST', { content: { a: 1 } }],
    [404, '42883', `${entries}?date=like.2026*`],
    [400, '42804', `${entries}?content=is.true`],
    [400, '22P02', '/rest/v1/profiles?ai_consent=eq.perhaps'],
  ])('%d %s: %s %s', async (status, code, path, method = 'GET', body, headers = {}) => {
    const response = await world.request(world.ana, method, path, { body, headers });
    expect(response).toMatchObject({ status, json: { code, message: expect.any(String) } });
    expect(Object.keys(response.json as object).sort()).toEqual(['code', 'details', 'hint', 'message']);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('gets the same error again on a reused connection', async () => {
    const rejected = `${entries}?date=like.2026*&content=neq.${'x'.repeat(20)}`;
    const one = { accept: 'application/vnd.pgrst.object+json' };
    for (let round = 0; round < 3; round += 1) {
      expect(await world.request(world.ana, 'GET', rejected)).toMatchObject({ status: 404, json: { code: '42883' } });
      expect((await world.request(world.ana, 'DELETE', `${entries}?date=eq.2001-01-01`, { headers: one })).status).toBe(
        406,
      );
    }
  });

  test('gets 413 for a body that is too large', async () => {
    const response = await world.request(world.ana, 'POST', entries, { body: { content: 'a'.repeat(3_000_000) } });
    expect(response).toMatchObject({ status: 413, json: { message: expect.any(String) } });
  });

  test.each([
    [entries, '/rest/v1/entries'],
    ['/auth/v1/token?grant_type=password', '/auth/v1/token'],
  ])('is not logged as an error when the client disconnects during %s', async (path, route) => {
    const { hostname, port } = new URL(world.server.url);
    const socket = connect(Number(port), hostname);
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${world.ana.token}\r\n`;
    const endedBefore = world.finishedRequests('POST', route);
    // Node answers "100 Continue" right before it calls the request listener, which then waits for the body.
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    socket.end('{', () => socket.destroy());
    // An error is logged before the line of its request.
    await expect.poll(() => world.finishedRequests('POST', route)).toBe(endedBefore + 1);
    expect(world.errorsLogged).toEqual([]);
  });

  test('gets 503 when too many searches are queued, while other requests succeed', async () => {
    const holder = await world.server.admin.connect();
    await holder.query('begin; lock table public.entries in access exclusive mode');
    const search = `${entries}?content_text=ilike.*x*`;
    const searches = Array.from({ length: 40 }, () => world.request(world.ana, 'GET', search));
    // One search runs and ten searches are queued. The other searches are rejected while the table is locked.
    const first = await Promise.race(searches);
    expect(first).toMatchObject({ status: 503, json: { code: 'PGRST000' } });
    expect((await world.request(world.ana, 'GET', '/rest/v1/profiles')).status).toBe(200);
    await holder.query('rollback');
    holder.release();
    const statuses = (await Promise.all(searches)).map((response) => response.status);
    expect([...new Set(statuses)].sort()).toEqual([200, 503]);
  });

  test('gets 400 for a row with an impossible date or country', async () => {
    const impossible = row('2026-02-30', world.ana.id);
    expect(await world.ana.client.from('entries').insert(impossible)).toMatchObject({
      status: 400,
      error: { code: '22008' },
    });
    expect(
      await world.ana.client.from('profiles').update({ country: 'Portugal' }).eq('id', world.ana.id),
    ).toMatchObject({ status: 400, error: { code: '23514' } });
  });
});

describe('the database rejects', () => {
  test('future days, and days that the plan locks', async () => {
    const refusals: [string, string][] = [
      [daysAgo(-3), 'new row violates row-level security policy "reject_insert_of_future_day" for table "entries"'],
      [daysAgo(60), 'new row violates row-level security policy for table "entries"'],
    ];
    for (const [date, message] of refusals) {
      expect(await world.ana.client.from('entries').insert(row(date, world.ana.id))).toMatchObject({
        status: 403,
        error: { code: '42501', message },
      });
    }
    expect((await world.cleo.client.from('entries').insert(row(daysAgo(60), world.cleo.id))).status).toBe(201);
  });
  test("writes to another user's rows", async () => {
    await world.ben.client.from('entries').insert(row(today(), world.ben.id));
    const entriesOfAna = world.ana.client.from('entries');
    expect(await entriesOfAna.insert(row(daysAgo(1), world.ben.id))).toMatchObject({
      status: 403,
      error: { code: '42501' },
    });
    expect(await entriesOfAna.upsert(row(today(), world.ben.id))).toMatchObject({
      status: 403,
      error: { code: '42501' },
    });
    expect((await entriesOfAna.update({ content: 'stolen' }).eq('user_id', world.ben.id).select()).data).toEqual([]);
    expect((await entriesOfAna.delete().eq('user_id', world.ben.id).select()).data).toEqual([]);
    const { data } = await world.ben.client.from('entries').select('content_text').eq('date', today()).single();
    expect(data).toEqual({ content_text: 'x' });
  });
  test.each([
    ['entries', { revision: 1 }],
    ['entries', { id: '11111111-2222-4333-8444-555555555555' }],
    ['profiles', { subscription_plan: 'premium' }],
    ['profiles', { access_valid_until: '2099-01-01' }],
  ])('writes to server-only columns: %s %j', async (table, change) => {
    const key = table === 'entries' ? 'user_id' : 'id';
    const response = await world.ana.client.from(table).update(change).eq(key, world.ana.id);
    expect(response).toMatchObject({
      status: 403,
      error: { code: '42501', message: `permission denied for table ${table}` },
    });
    if ('id' in change) return;
    const { status } = await world.ana.client.from(table).insert({ [key]: world.ana.id, ...change });
    expect(status).toBe(403);
  });
  test('writes of a guest with 401', async () => {
    const response = await world.request(null, 'POST', entries, { body: row(today(), world.ana.id) });
    expect(response).toMatchObject({ status: 401, json: { code: '42501' } });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect((await world.request(null, 'DELETE', `${entries}?date=eq.${today()}`)).status).toBe(401);
    const key = world.server.config.publishableKey;
    expect(await world.request(null, 'GET', entries, { headers: { authorization: `Bearer ${key}` } })).toMatchObject({
      status: 200,
      json: [],
    });
  });
});

describe('an access token', () => {
  test.each(['x', 'a.b.c', '...', 'null', '='])('is rejected when malformed: %s', async (token) => {
    const response = await withToken(token);
    expect(response).toMatchObject({ status: 401, json: { code: 'PGRST301' } });
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", error_description="/);
  });
  test('is rejected when forged', async () => {
    const [, claims, signature] = partsOf(world.ana.token);
    for (const header of [{ alg: 'none' }, { alg: 'HS256', typ: 'JWT' }, { alg: 'ES256', kid: 'x' }]) {
      expect((await withToken(`${encoded(header)}.${claims}.${signature}`)).status).toBe(401);
      expect((await withToken(`${encoded(header)}.${claims}.`)).status).toBe(401);
    }
    const [header] = partsOf(world.ana.token);
    const stolen = encoded({ sub: world.ben.id, role: 'service_role', exp: 9_999_999_999 });
    expect((await withToken(`${header}.${stolen}.${signature}`)).status).toBe(401);
  });
  test('is rejected when its session has ended', async () => {
    const client = createClient(world.server.url, world.server.config.publishableKey, {
      auth: { persistSession: false },
    });
    const { data } = await client.auth.signUp({ email: 'dora@example.com', password: 'correct horse' });
    const token = data.session!.access_token;
    expect((await withToken(token)).status).toBe(200);
    await client.auth.signOut();
    expect(await withToken(token)).toMatchObject({ status: 401, json: { code: 'PGRST303' } });
  });
  test.each([
    ['PATCH', `${entries}?date=eq.${today()}`, { content: '<p>by a thief</p>' }],
    ['POST', '/functions/v1/read-days', { from: today() }],
    ['POST', '/functions/v1/append-item', { text: 'by a thief', date: today() }],
  ])('is rejected when it has ended before the body of %s %s arrived', async (method, path, body) => {
    const { data } = await world.guest.auth.signUp({ email: `${randomUUID()}@example.com`, password: 'correct horse' });
    const { user, session } = data;
    const headers = { authorization: `Bearer ${session!.access_token}`, 'content-type': 'application/json' };
    const stored = { ...row(today(), user!.id), content: '<p>a secret</p>' };
    expect((await world.request(null, 'POST', entries, { headers, body: stored })).status).toBe(201);
    const sent = JSON.stringify(body);
    const open = httpRequest(`${world.server.url}${path}`, {
      method,
      // Node answers "100 Continue" right before it calls the request listener, which then waits for the body.
      headers: { ...headers, 'content-length': Buffer.byteLength(sent), expect: '100-continue' },
    });
    open.flushHeaders();
    await once(open, 'continue');
    open.write(sent.slice(0, -1));
    // The same connection pool answers in turn: the open request has been authenticated by then.
    expect((await withToken(session!.access_token)).status).toBe(200);
    await world.guest.auth.signOut();
    open.end(sent.slice(-1));
    const [answer] = (await once(open, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await textOf(answer)]).toEqual([401, expect.not.stringContaining('secret')]);
    const { rows } = await world.server.admin.query('select content from entries where user_id = $1', [user!.id]);
    expect(rows).toEqual([{ content: expect.not.stringContaining('thief') as string }]);
  });
  test('is rejected when expired', async () => {
    world.server.clock.advance(2 * 3_600_000);
    const response = await withToken(world.ana.token);
    expect(response).toMatchObject({ status: 401, json: { code: 'PGRST303', message: 'JWT expired' } });
    world.server.clock.advance(-2 * 3_600_000);
  });
});

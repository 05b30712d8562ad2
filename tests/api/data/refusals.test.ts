import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { daysAgo, startDataWorld, today } from './world.ts';
import type { DataWorld } from './world.ts';

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
const withToken = (token: string) => world.ask(null, 'GET', entries, { headers: { authorization: `Bearer ${token}` } });
const partsOf = (token: string) => token.split('.') as [string, string, string];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a refused request', () => {
  test('answers all four keys', async () => {
    const { json } = await world.ask(world.ana, 'GET', `${entries}?date=0`);
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
    const answer = await world.ask(world.ana, method, path, { body, headers });
    expect(answer).toMatchObject({ status, json: { code, message: expect.any(String) } });
    expect(Object.keys(answer.json as object).sort()).toEqual(['code', 'details', 'hint', 'message']);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('is refused the same way again, whatever its connection did meanwhile', async () => {
    const refused = `${entries}?date=like.2026*&content=neq.${'x'.repeat(20)}`;
    const one = { accept: 'application/vnd.pgrst.object+json' };
    for (let round = 0; round < 3; round += 1) {
      expect(await world.ask(world.ana, 'GET', refused)).toMatchObject({ status: 404, json: { code: '42883' } });
      expect((await world.ask(world.ana, 'DELETE', `${entries}?date=eq.2001-01-01`, { headers: one })).status).toBe(
        406,
      );
    }
  });

  test('a body that is too large', async () => {
    const answer = await world.ask(world.ana, 'POST', entries, { body: { content: 'a'.repeat(3_000_000) } });
    expect(answer).toMatchObject({ status: 413, json: { message: expect.any(String) } });
  });

  test.each([
    [entries, '/rest/v1/:table'],
    ['/auth/v1/token?grant_type=password', '/auth/v1/token'],
  ])('a caller who leaves in the middle of %s is nobody’s error', async (path, route) => {
    const { hostname, port } = new URL(world.server.url);
    const socket = connect(Number(port), hostname);
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${world.ana.token}\r\n`;
    const endedBefore = world.requestsEnded('POST', route);
    // The server says "100 Continue" when it begins to wait for the body.
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    socket.end('{', () => socket.destroy());
    // What goes wrong in a request is logged before the request itself.
    await expect.poll(() => world.requestsEnded('POST', route), { timeout: 10_000 }).toBe(endedBefore + 1);
    expect(world.errorsLogged).toEqual([]);
  });

  test('searches without end wait for each other, and a save waits for none of them', async () => {
    const holder = await world.server.admin.connect();
    await holder.query('begin; lock table public.entries in access exclusive mode');
    const search = `${entries}?content_text=ilike.*x*`;
    const searches = Array.from({ length: 40 }, () => world.ask(world.ana, 'GET', search));
    // One runs and ten wait; the rest hears at once, while the table still is locked.
    const first = await Promise.race(searches);
    expect(first).toMatchObject({ status: 503, json: { code: 'PGRST000' } });
    expect((await world.ask(world.ana, 'GET', '/rest/v1/profiles')).status).toBe(200);
    await holder.query('rollback');
    holder.release();
    const statuses = (await Promise.all(searches)).map((answer) => answer.status);
    expect([...new Set(statuses)].sort()).toEqual([200, 503]);
  });

  test('a date that does not exist, in a row', async () => {
    const impossible = row('2026-02-30', world.ana.id);
    expect(await world.ana.client.from('entries').insert(impossible)).toMatchObject({
      status: 400,
      error: { code: '22008' },
    });
    expect(
      await world.ana.client.from('profiles').update({ country: 'Portugal' }).eq('id', world.ana.id),
    ).toMatchObject({
      status: 400,
      error: { code: '23514' },
    });
  });
});

describe('what the database forbids', () => {
  test('days that have begun nowhere, and days that the plan has locked', async () => {
    for (const date of [daysAgo(-3), daysAgo(60)]) {
      expect(await world.ana.client.from('entries').insert(row(date, world.ana.id))).toMatchObject({
        status: 403,
        error: { code: '42501', message: 'new row violates row-level security policy for table "entries"' },
      });
    }
    expect((await world.cleo.client.from('entries').insert(row(daysAgo(60), world.cleo.id))).status).toBe(201);
  });
  test("another user's rows", async () => {
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
  ])('columns that only the server writes: %s %j', async (table, change) => {
    const key = table === 'entries' ? 'user_id' : 'id';
    const answer = await world.ana.client.from(table).update(change).eq(key, world.ana.id);
    expect(answer).toMatchObject({
      status: 403,
      error: { code: '42501', message: `permission denied for table ${table}` },
    });
    const { status } = await world.ana.client.from(table).insert({ [key]: world.ana.id, ...change });
    expect(status).toBe(403);
  });
  test('a guest is asked to sign in', async () => {
    const answer = await world.ask(null, 'POST', entries, { body: row(today(), world.ana.id) });
    expect(answer).toMatchObject({ status: 401, json: { code: '42501' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect((await world.ask(null, 'DELETE', `${entries}?date=eq.${today()}`)).status).toBe(401);
    const key = world.server.config.publishableKey;
    expect(await world.ask(null, 'GET', entries, { headers: { authorization: `Bearer ${key}` } })).toMatchObject({
      status: 200,
      json: [],
    });
  });
});

describe('an access token', () => {
  test.each(['x', 'a.b.c', '...', 'null', '='])('that is none: %s', async (token) => {
    const answer = await withToken(token);
    expect(answer).toMatchObject({ status: 401, json: { code: 'PGRST301' } });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", error_description="/);
  });
  test('that is forged', async () => {
    const [, claims, signature] = partsOf(world.ana.token);
    for (const header of [{ alg: 'none' }, { alg: 'HS256', typ: 'JWT' }, { alg: 'ES256', kid: 'x' }]) {
      expect((await withToken(`${encoded(header)}.${claims}.${signature}`)).status).toBe(401);
      expect((await withToken(`${encoded(header)}.${claims}.`)).status).toBe(401);
    }
    const [header] = partsOf(world.ana.token);
    const stolen = encoded({ sub: world.ben.id, role: 'service_role', exp: 9_999_999_999 });
    expect((await withToken(`${header}.${stolen}.${signature}`)).status).toBe(401);
  });
  test('whose session has ended', async () => {
    const client = createClient(world.server.url, world.server.config.publishableKey, {
      auth: { persistSession: false },
    });
    const { data } = await client.auth.signUp({ email: 'dora@example.com', password: 'correct horse' });
    const token = data.session!.access_token;
    expect((await withToken(token)).status).toBe(200);
    await client.auth.signOut();
    expect(await withToken(token)).toMatchObject({ status: 401, json: { code: 'PGRST303' } });
  });
  test('that has expired', async () => {
    world.server.clock.advance(2 * 3_600_000);
    const answer = await withToken(world.ana.token);
    expect(answer).toMatchObject({ status: 401, json: { code: 'PGRST303', message: 'JWT expired' } });
    world.server.clock.advance(-2 * 3_600_000);
  });
});

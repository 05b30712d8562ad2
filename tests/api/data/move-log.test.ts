/** Moving a log with the journal's own transport: lost responses, retries and races. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { createSendMove } from '#client/sync/entries/move-log.ts';
import { createDataClient } from '#client/lib/api/data-client.ts';
import { addDays, type Day } from '#domain/day/day.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { daysAgo, startDataWorld, today, type DataWorld, type Person } from './fixture.ts';

let world: DataWorld;
beforeAll(async () => {
  vi.stubGlobal('navigator', { onLine: true });
  world = await startDataWorld();
});
beforeEach(async () => {
  await world.server.admin.query('delete from public.entries');
});
afterAll(async () => {
  vi.unstubAllGlobals();
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const FROM = daysAgo(3);
const TO = daysAgo(5);
const MOVE = { from: FROM, to: TO };

async function insertLog(person: Person, date: Day = FROM): Promise<{ id: string; revision: number }> {
  const row = { user_id: person.id, date, content: `<p>of ${date}</p>` };
  const { data, error } = await person.client.from('entries').insert(row).select('id, revision').single();
  expect(error).toBeNull();
  return data as { id: string; revision: number };
}

/** The journal's transport. The server applies each PATCH, but the first `lostResponses` responses are lost. */
function sender(person: Person, lostResponses = 0) {
  let lost = 0;
  const credentials = { apikey: world.server.config.publishableKey, authorization: `Bearer ${person.token}` };
  const data = createDataClient({
    apiUrl: world.server.url,
    withSession: (base) => (input, init) => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
      return base(input, { ...init, headers });
    },
  });
  vi.stubGlobal('fetch', async (...request: Parameters<typeof fetch>) => {
    const response = await realFetch(...request);
    if ((request[1]?.method ?? 'GET') === 'PATCH' && (lost += 1) <= lostResponses)
      throw new TypeError('the response is lost');
    return response;
  });
  return createSendMove(data, person.id);
}
const realFetch = fetch;
beforeEach(() => () => vi.stubGlobal('fetch', realFetch));

async function logs(person: Person) {
  const { rows } = await world.server.admin.query<{ date: Day; content: string; revision: number }>(
    'select date, content, revision from public.entries where user_id = $1 order by date',
    [person.id],
  );
  return rows;
}

test('moves a log to the new day with the header of that day', async () => {
  const version = await insertLog(world.ana);
  const moved = await sender(world.ana)(MOVE, version);
  expect(moved).toMatchObject({ kind: 'moved', log: { id: version.id, revision: 2, html: `<p>of ${FROM}</p>` } });
  expect(await logs(world.ana)).toEqual([{ date: TO, content: withDateHeader(TO, `<p>of ${FROM}</p>`), revision: 2 }]);
});

describe('a request whose response was lost', () => {
  test('has moved the log, and its retry is idempotent', async () => {
    const version = await insertLog(world.ana);
    const send = sender(world.ana, 1);
    expect(await send(MOVE, version)).toEqual({ kind: 'unreachable', version });
    const before = await logs(world.ana);
    expect(before).toMatchObject([{ date: TO, revision: 2 }]);
    expect(await send(MOVE, version)).toMatchObject({ kind: 'moved', log: { id: version.id, revision: 2 } });
    expect(await logs(world.ana)).toEqual(before);
  });

  test('is recognized as applied, although the log was edited since', async () => {
    const version = await insertLog(world.ana);
    const send = sender(world.ana, 1);
    await send(MOVE, version);
    await world.ana.client.from('entries').update({ content: '<p>more</p>' }).eq('date', TO);
    const again = await send(MOVE, version);
    expect(again).toMatchObject({ kind: 'moved', log: { revision: 3, html: '<p>more</p>' } });
    expect(await logs(world.ana)).toMatchObject([{ date: TO, content: withDateHeader(TO, '<p>more</p>') }]);
  });
});

test.each([200, 403, 502])('an answer %i of a proxy does not say whether the log was moved', async (status) => {
  const version = await insertLog(world.ana);
  const send = sender(world.ana);
  vi.stubGlobal('fetch', async () => new Response('<h1>A proxy</h1>', { status }));
  expect(await send(MOVE, version)).toEqual({ kind: 'unreachable', version });
});

describe('a move is rejected', () => {
  test('to a day that has a log', async () => {
    const version = await insertLog(world.ana);
    await insertLog(world.ana, TO);
    const before = await logs(world.ana);
    expect(await sender(world.ana)(MOVE, version)).toEqual({ kind: 'taken' });
    expect(await logs(world.ana)).toEqual(before);
  });

  test('when the log was changed or moved concurrently', async () => {
    const version = await insertLog(world.ana);
    await world.ana.client.from('entries').update({ content: '<p>new</p>' }).eq('date', FROM);
    expect(await sender(world.ana)(MOVE, version)).toEqual({ kind: 'changed' });
    await sender(world.ana)({ from: FROM, to: daysAgo(9) }, { ...version, revision: 2 });
    expect(await sender(world.ana)(MOVE, { ...version, revision: 2 })).toEqual({ kind: 'changed' });
    expect(await logs(world.ana)).toMatchObject([{ date: daysAgo(9) }]);
  });

  test.each([
    ['to a future day', () => addDays(today(), 3)],
    ['to a locked day', () => daysAgo(60)],
  ])('%s', async (_where, to) => {
    const version = await insertLog(world.ana);
    expect(await sender(world.ana)({ from: FROM, to: to() }, version)).toEqual({ kind: 'closed' });
    expect(await logs(world.ana)).toMatchObject([{ date: FROM, revision: 1 }]);
  });

  test('from a locked day', async () => {
    const old = daysAgo(60);
    await world.server.admin.query("insert into public.entries (user_id, date, content) values ($1, $2, '<p>x</p>')", [
      world.ana.id,
      old,
    ]);
    const { rows } = await world.server.admin.query<{ id: string }>('select id from public.entries');
    const version = { id: rows[0]!.id, revision: 1 };
    expect(await sender(world.ana)({ from: old, to: TO }, version)).toEqual({ kind: 'changed' });
    expect(await logs(world.ana)).toMatchObject([{ date: old, revision: 1 }]);
  });

  test("of another user's log", async () => {
    const version = await insertLog(world.cleo);
    expect(await sender(world.ana)(MOVE, version)).toEqual({ kind: 'changed' });
    expect(await logs(world.cleo)).toMatchObject([{ date: FROM, revision: 1 }]);
  });
});

test('exactly one of several concurrent moves succeeds', async () => {
  const version = await insertLog(world.ana);
  const outcomes = await Promise.all(
    [TO, daysAgo(7), daysAgo(8), daysAgo(9)].map((to) => sender(world.ana)({ from: FROM, to }, version)),
  );
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['changed', 'changed', 'changed', 'moved']);
  expect(await logs(world.ana)).toHaveLength(1);
});

test('a save of the old day with the previous revision affects no row', async () => {
  const version = await insertLog(world.ana);
  await sender(world.ana)(MOVE, version);
  const { data } = await world.ana.client
    .from('entries')
    .update({ content: '<p>late</p>' })
    .match({ user_id: world.ana.id, date: FROM, ...version })
    .select('id');
  expect(data).toEqual([]);
  expect(await logs(world.ana)).toMatchObject([{ date: TO, content: withDateHeader(TO, `<p>of ${FROM}</p>`) }]);
});

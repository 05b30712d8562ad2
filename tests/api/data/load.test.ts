/**
 * Protection of other users from an expensive client: unauthenticated bodies, bulk writes, many concurrent requests.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MAX_ROWS } from '#server/data/errors.ts';
import { daysAgo, startDataWorld, today, type DataWorld, type Person } from './fixture.ts';

let world: DataWorld;

beforeAll(async () => {
  world = await startDataWorld();
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const entries = '/rest/v1/entries';
const merge = { prefer: 'resolution=merge-duplicates' };

/** Returns the status line for a request that announces a body but never sends it. */
async function statusBeforeBody(method: string, path: string, body: string): Promise<string> {
  const { hostname, port } = new URL(world.server.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${body}\r\n\r\n`);
  const [response] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return response.toString().split('\r\n', 1)[0]!;
}

test.each([
  ['POST', `${entries}?columns=content`],
  ['PATCH', `${entries}?date=eq.${today()}`],
  ['DELETE', `${entries}?date=eq.${today()}`],
  ['POST', '/functions/v1/import-entries'],
  ['POST', '/functions/v1/find-entries'],
  ['PUT', '/auth/v1/user'],
])('rejects a guest before the body of %s %s arrives', async (method, path) => {
  for (const body of ['Content-Length: 60000', 'Transfer-Encoding: chunked']) {
    expect(await statusBeforeBody(method, path, body)).toMatch(/^HTTP\/1\.1 401 /);
  }
});

test('rejects more than MAX_ROWS rows with 54023 and stores none', async () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ user_id: world.cleo.id, date: daysAgo(index), content: 'x' }));
  const refused = await world.cleo.client.from('entries').insert(rows(MAX_ROWS + 1));
  expect(refused).toMatchObject({
    status: 413,
    error: { code: '54023', message: expect.stringContaining('1000 rows') },
  });
  expect((await world.cleo.client.from('entries').select('date')).data).toEqual([]);
  expect(await world.cleo.client.from('entries').insert(rows(MAX_ROWS))).toMatchObject({ status: 201, error: null });
});

/** Stores days of 256 KB of one character. Without triggers, which would take seconds. */
async function storeFullLogs(userId: string, count: number, character: string): Promise<void> {
  const admin = await world.server.admin.connect();
  await admin.query('begin; set local session_replication_role = replica');
  await admin.query(
    `insert into public.entries (user_id, date, content, content_text, revision)
     select $1, $2::date - day, repeat($4, 262144), '', 1 from generate_series(0, $3::int - 1) as day
     on conflict (user_id, date) do update set content = excluded.content`,
    [userId, daysAgo(1_100), count, character],
  );
  await admin.query('commit');
  admin.release();
}

test('rejects an answer with more than 16 MB of texts or 32 MB of JSON, and reads its rows in two answers', async () => {
  const { cleo } = world;
  await storeFullLogs(cleo.id, 65, 'x');
  const long = `${entries}?date=lte.${daysAgo(1_100)}&order=date&select=date,content`;
  const tooLong = { status: 413, json: { code: '54000', message: expect.stringContaining('16 MB of texts') } };
  expect(await world.request(cleo, 'GET', long)).toMatchObject(tooLong);
  const half = await world.request(cleo, 'GET', `${long}&limit=64`);
  expect([half.status, (half.json as { date: string }[]).map(({ date }) => date)]).toEqual([
    200,
    Array.from({ length: 64 }, (_, index) => daysAgo(1_164 - index)),
  ]);
  expect((half.json as { content: string }[])[63]!.content).toHaveLength(262_144);

  await storeFullLogs(cleo.id, 30, '\u0001');
  expect(await world.request(cleo, 'GET', `${long}&limit=64`), 'logs that JSON escapes to 46 MB').toMatchObject(
    tooLong,
  );

  const representation = { prefer: 'return=representation' };
  expect(await world.request(cleo, 'DELETE', long, { headers: representation })).toMatchObject(tooLong);
  const { data } = await cleo.client.from('entries').select('date').lte('date', daysAgo(1_100));
  expect(data, 'the deletion was rolled back').toHaveLength(65);
});

const BULK = {
  'many rows': (person: Person) =>
    world.request(person, 'POST', entries, {
      body: [today(), daysAgo(1)].map((date) => ({ user_id: person.id, date, content: 'bulk' })),
      headers: merge,
    }),
  'a very long log': (person: Person) =>
    world.request(person, 'POST', entries, {
      body: { user_id: person.id, date: today(), content: 'long '.repeat(10_000) },
      headers: merge,
    }),
  'an update of every day': (person: Person) =>
    world.request(person, 'PATCH', `${entries}?date=lte.${today()}&select=date`, { body: { content: 'everywhere' } }),
} as const;

const unusedDays = Object.keys(BULK).map((_, index) => daysAgo(5 + index));

test.each(Object.entries(BULK))(
  'runs one request at a time of a user who writes %s, without delaying other users',
  async (_what, write) => {
    const { ana, ben } = world;
    await world.request(ana, 'POST', entries, {
      body: { user_id: ana.id, date: today(), content: 'x' },
      headers: merge,
    });
    const holder = await world.server.admin.connect();
    await holder.query('begin');
    await holder.query('select from public.entries where user_id = $1 and date = $2 for update', [ana.id, today()]);
    const writes = Array.from({ length: 20 }, () => write(ana));
    // One write runs and waits for the lock, and four writes are queued. The other writes are rejected at once.
    expect(await Promise.race(writes)).toMatchObject({ status: 503, json: { code: 'PGRST000' } });
    expect((await write(ben)).status).toBeLessThan(300);
    // A day without a log, because the update of every day locks the existing rows.
    const save = { user_id: ana.id, date: unusedDays.pop(), content: 'a save' };
    expect((await world.request(ana, 'POST', entries, { body: save, headers: merge })).status).toBeLessThan(300);
    await holder.query('rollback');
    holder.release();
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(5);
    expect(statuses.filter((status) => status === 503)).toHaveLength(15);
  },
);

test('queues a user beyond half of the connections without delaying another user', async () => {
  const { ana, ben } = world;
  const date = daysAgo(20);
  await world.request(ana, 'POST', entries, { body: { user_id: ana.id, date, content: 'x' }, headers: merge });
  const holder = await world.server.admin.connect();
  await holder.query('begin');
  await holder.query('select from public.entries where user_id = $1 and date = $2 for update', [ana.id, date]);
  // As many requests as the pool has connections: without the limit the requests would use all of them.
  const saves = Array.from({ length: 16 }, (_, index) =>
    world.request(ana, 'PATCH', `${entries}?date=eq.${date}`, { body: { content: `save ${index}` } }),
  );
  await waitForLockedStatements(8);
  const save = { user_id: ben.id, date: today(), content: 'a save' };
  expect((await world.request(ben, 'POST', entries, { body: save, headers: merge })).status).toBeLessThan(300);
  expect(await waitForLockedStatements(8)).toBe(8);
  await holder.query('rollback');
  holder.release();
  for (const { status } of await Promise.all(saves)) expect(status).toBe(204);
});

test('a read that never ends delays the quick reads of another user for its time limit only', async () => {
  const { ana, ben } = world;
  const own = `${entries}?select=revision&date=eq.${today()}`;
  const foreign = `/rest/v1/analyses?select=score&id=eq.${ana.id}`;
  const readTogether = (...paths: [Person, string, number][]) =>
    paths.flatMap(([person, path, times]) => Array.from({ length: times }, () => world.request(person, 'GET', path)));
  // The statements are prepared on the connections, so that reads join each other's pipelines.
  for (let round = 0; round < 5; round += 1) await Promise.all(readTogether([ana, foreign, 8], [ben, own, 8]));

  const holder = await world.server.admin.connect();
  await holder.query('begin; lock table public.analyses in access exclusive mode');
  let endless = 0;
  const blocked: Promise<unknown>[] = [];
  // As many as a user may have at once, so that none of them waits for a connection of its own.
  for (let round = 0; round < 2; round += 1) {
    blocked.push(...readTogether([ana, foreign, 4]).map((read) => read.finally(() => (endless += 1))));
    for (const { status } of await Promise.all(readTogether([ben, own, 8]))) expect(status).toBe(200);
  }
  expect(endless, 'reads that ended before the lock').toBe(0);
  await holder.query('rollback');
  holder.release();
  await Promise.all(blocked);
});

/** Waits until at least `count` statements wait for a lock, and returns their number. */
async function waitForLockedStatements(count: number): Promise<number> {
  return vi.waitFor(async () => {
    const { rows } = await world.server.admin.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    const { waiting } = rows[0]!;
    expect(waiting).toBeGreaterThanOrEqual(count);
    return waiting;
  }, 10_000);
}

test.each(['/auth/v1/signup', '/auth/v1/token?grant_type=password'])(
  'rejects a body of tens of thousands of values before parsing: %s',
  async (path) => {
    const body = `{"email":"a@example.com","password":"correct horse","data":{"a":[${'[],'.repeat(20_000)}1]}}`;
    expect(await world.request(null, 'POST', path, { body })).toMatchObject({
      status: 400,
      json: { error_code: 'validation_failed' },
    });
  },
);

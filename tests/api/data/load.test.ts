/** What one caller can make the server do at the cost of everybody else: bodies of strangers, and writes of many rows. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MAX_ROWS } from '#server/data/errors.ts';
import { daysAgo, startDataWorld, today } from './world.ts';
import type { DataWorld, Person } from './world.ts';

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

/** The first line of the answer to a request that announces a body and never sends a byte of it. */
async function answerBeforeBody(method: string, path: string, body: string): Promise<string> {
  const { hostname, port } = new URL(world.server.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${body}\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString().split('\r\n', 1)[0]!;
}

test.each([
  ['POST', `${entries}?columns=content`],
  ['PATCH', `${entries}?date=eq.${today()}`],
  ['DELETE', `${entries}?date=eq.${today()}`],
  ['POST', '/functions/v1/import-entries'],
  ['POST', '/functions/v1/find-entries'],
  ['PUT', '/auth/v1/user'],
])('refuses a guest before the body of %s %s has come', async (method, path) => {
  for (const body of ['Content-Length: 60000', 'Transfer-Encoding: chunked']) {
    expect(await answerBeforeBody(method, path, body)).toMatch(/^HTTP\/1\.1 401 /);
  }
});

test('refuses more rows than one request can write, by a code of its own, and stores none', async () => {
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

const BULK = {
  'many rows': (person: Person) =>
    world.ask(person, 'POST', entries, {
      body: [today(), daysAgo(1)].map((date) => ({ user_id: person.id, date, content: 'bulk' })),
      headers: merge,
    }),
  'a log longer than people write': (person: Person) =>
    world.ask(person, 'POST', entries, {
      body: { user_id: person.id, date: today(), content: 'long '.repeat(10_000) },
      headers: merge,
    }),
  'an update of every day': (person: Person) =>
    world.ask(person, 'PATCH', `${entries}?date=lte.${today()}&select=date`, { body: { content: 'everywhere' } }),
} as const;

const freeDays = Object.keys(BULK).map((_, index) => daysAgo(5 + index));

test.each(Object.entries(BULK))(
  'of a user who writes %s at once, one request is under way, and others do not wait for it',
  async (_what, write) => {
    const { ana, ben } = world;
    await world.ask(ana, 'POST', entries, { body: { user_id: ana.id, date: today(), content: 'x' }, headers: merge });
    const holder = await world.server.admin.connect();
    await holder.query('begin');
    await holder.query('select from public.entries where user_id = $1 and date = $2 for update', [ana.id, today()]);
    const writes = Array.from({ length: 20 }, () => write(ana));
    // One has its turn and waits for the lock, four wait for their turn; the rest hears at once.
    expect(await Promise.race(writes)).toMatchObject({ status: 503, json: { code: 'PGRST000' } });
    expect((await write(ben)).status).toBeLessThan(300);
    // A day without a log: an update of every day holds those that there are.
    const save = { user_id: ana.id, date: freeDays.pop(), content: 'a save' };
    expect((await world.ask(ana, 'POST', entries, { body: save, headers: merge })).status).toBeLessThan(300);
    await holder.query('rollback');
    holder.release();
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(5);
    expect(statuses.filter((status) => status === 503)).toHaveLength(15);
  },
);

test('a user with more requests at once than a browser sends waits for their own, and nobody else does', async () => {
  const { ana, ben } = world;
  const date = daysAgo(20);
  await world.ask(ana, 'POST', entries, { body: { user_id: ana.id, date, content: 'x' }, headers: merge });
  const holder = await world.server.admin.connect();
  await holder.query('begin');
  await holder.query('select from public.entries where user_id = $1 and date = $2 for update', [ana.id, date]);
  // As many as the server has connections to the database: with all of them, nobody else would have one.
  const saves = Array.from({ length: 16 }, (_, index) =>
    world.ask(ana, 'PATCH', `${entries}?date=eq.${date}`, { body: { content: `save ${index}` } }),
  );
  await waitingForLocks(6);
  const save = { user_id: ben.id, date: today(), content: 'a save' };
  expect((await world.ask(ben, 'POST', entries, { body: save, headers: merge })).status).toBeLessThan(300);
  expect(await waitingForLocks(6)).toBe(6);
  await holder.query('rollback');
  holder.release();
  for (const { status } of await Promise.all(saves)) expect(status).toBe(204);
});

/** Resolves with how many statements wait for a lock, once there are as many. */
async function waitingForLocks(count: number): Promise<number> {
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
  'does not parse a body of tens of thousands of values: %s',
  async (path) => {
    const body = `{"email":"a@example.com","password":"correct horse","data":{"a":[${'[],'.repeat(20_000)}1]}}`;
    expect(await world.ask(null, 'POST', path, { body })).toMatchObject({
      status: 400,
      json: { error_code: 'validation_failed' },
    });
  },
);

/** Tests that quick writes share transactions, and that none of them notices the others. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import { Secret } from '#server/config/settings-reader.ts';
import { createRequestContext, runInRequestContext } from '#server/load/request-context.ts';
import { createLog } from '#server/log.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import { setUpTestDatabase } from '../../../../tests/support/set-up.ts';
import { openDatabase } from '../connect.ts';
import type { Database, Identity } from '../database.ts';
import { ForeignAnswerError, RlsQuery } from '../rls-query.ts';
import { MAX_WRITES } from './share-transactions.ts';

const db = setUpTestDatabase({ isDirect: true });
/** Opened for each test: an announcement of an earlier test would take the connection that is prepared. */
let database: Database;
let users: string[];

const identity = (sub: string): Identity => ({
  role: 'authenticated',
  claimsJson: JSON.stringify({ sub, session_id: randomUUID() }),
});

beforeEach(async () => {
  database = await openDatabase({ config: { databaseUrl: new Secret(db.url), dataDir: '' }, log: createLog('error') });
  users = Array.from({ length: MAX_WRITES }, () => randomUUID());
  await seed(users);
  // A write without company prepares the statement on its connection. It changes no row, so nothing is announced.
  await save(users[0]!, '<p>prepared</p>', identity(users[1]!));
});

afterEach(() => database.close());

const SAVE = `update public.entries set content = $2 where user_id = $1 and date = current_date
  returning revision, pg_current_xact_id()::text as transaction, auth.uid()::text as caller`;
type Saved = { revision: number; transaction: string; caller: string };

/** Each write has an address of its own, because the limiter allows one address few connections. */
async function save(user: string, content: string, caller = identity(user)): Promise<Saved | undefined> {
  const statements = database.asUser(caller, { isQuickWrite: true });
  const write = () => statements.statement<Saved>(SAVE, [user, content]);
  return (await runInRequestContext(createRequestContext(randomUUID()), write)).rows[0];
}

async function seed(ids: readonly string[]): Promise<void> {
  await db.admin.query('insert into auth.users (id) select unnest($1::uuid[])', [ids]);
  await db.admin.query(
    "insert into entries (user_id, date, content) select unnest($1::uuid[]), current_date, '<p>first</p>'",
    [ids],
  );
}

const contentOf = async (user: string): Promise<string> =>
  (await db.admin.query('select content from entries where user_id = $1', [user])).rows[0].content;
const codeOf = (error: unknown): string | undefined => (error instanceof pg.DatabaseError ? error.code : undefined);

test('writes of different users that start together share a transaction, each as its own user', async () => {
  const saved = await Promise.all(users.map((user, index) => save(user, `<p>${index}</p>`)));
  expect(new Set(saved.map((row) => row!.transaction)).size).toBe(1);
  expect(saved.map((row) => row!.caller)).toEqual(users);
  expect(await Promise.all(users.map(contentOf))).toEqual(users.map((_, index) => `<p>${index}</p>`));
});

test('a transaction gets no more writes than it may have', async () => {
  const last = randomUUID();
  await seed([last]);
  const saved = await Promise.all([...users, last].map((user, index) => save(user, `<p>${index}</p>`)));
  expect(new Set(saved.slice(0, -1).map((row) => row!.transaction)).size).toBe(1);
  expect(new Set(saved.map((row) => row!.transaction)).size).toBe(2);
});

test('a write that starts in a later turn has a transaction of its own', async () => {
  const first = save(users[0]!, '<p>1</p>');
  await nextTurn();
  await nextTurn();
  const second = save(users[1]!, '<p>2</p>');
  expect((await first)!.transaction).not.toBe((await second)!.transaction);
});

test('each change of a shared transaction is announced once, and none of one that was rolled back', async () => {
  const listener = await db.admin.connect();
  onTestFinished(async () => {
    await listener.query('unlisten *');
    listener.release();
  });
  await listener.query('listen entry_changes');
  const lines: string[] = [];
  listener.on('notification', ({ payload = '' }) => lines.push(...payload.split('\n')));
  await Promise.all(users.map((user) => save(user, '<p>shared</p>')));
  await Promise.allSettled(
    users.map((user, index) => save(user, index === 0 ? 'x'.repeat(262_144 + 65) : '<p>alone</p>')),
  );
  const { rows } = await db.admin.query<{ line: string }>(
    `select concat_ws(' ', user_id, date, id, revisions) as line
       from entries, generate_series(2, revision) as revisions where user_id = any($1)`,
    [users.slice(1)],
  );
  expect(rows.length).toBe(2 * (MAX_WRITES - 1));
  const announced = () => lines.filter((line) => users.slice(1).some((user) => line.startsWith(user)));
  await expect.poll(() => announced().toSorted()).toEqual(rows.map(({ line }) => line).toSorted());
});

test("a write cannot reach the row of another user's write", async () => {
  const [own, foreign] = await Promise.all([
    save(users[0]!, '<p>own</p>'),
    save(users[0]!, '<p>stolen</p>', identity(users[1]!)),
    save(users[2]!, '<p>own</p>'),
  ]);
  expect(own!.revision).toBeGreaterThan(1);
  expect(foreign).toBeUndefined();
  expect(await contentOf(users[0]!)).toBe('<p>own</p>');
});

test('a write that fails fails alone, and the others are saved', async () => {
  const tooLong = 'x'.repeat(262_144 + 65);
  const results = await Promise.allSettled(
    users.map((user, index) => save(user, index === 3 ? tooLong : `<p>${index}</p>`)),
  );
  expect(results.map(({ status }) => status)).toEqual(
    users.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')),
  );
  expect(codeOf((results[3] as PromiseRejectedResult).reason)).toBe('23514');
  expect(await Promise.all(users.map(contentOf))).toEqual(
    users.map((_, index) => (index === 3 ? '<p>first</p>' : `<p>${index}</p>`)),
  );
});

test('a user whose write failed shares no transaction for a while', async () => {
  const failing = identity(users[1]!);
  const save3 = (content: string) =>
    Promise.allSettled([save(users[0]!, '<p>x</p>'), save(users[1]!, content, failing), save(users[2]!, '<p>x</p>')]);
  await save3('x'.repeat(262_144 + 65));
  const transactions = async () =>
    (await save3('<p>again</p>')).map((result) => (result as PromiseFulfilledResult<Saved>).value.transaction);
  // The writes that ran alone have opened connections that are not prepared yet.
  let [first, failed]: string[] = [];
  await expect
    .poll(async () => {
      let third: string | undefined;
      [first, failed, third] = await transactions();
      return first === third;
    })
    .toBe(true);
  expect(failed).not.toBe(first);
});

const UNSENDABLE = {
  toPostgres(): never {
    throw new TypeError('unsendable');
  },
};

test.each<[string, unknown, 'rejected' | 'fulfilled']>([
  ['cannot be serialised', UNSENDABLE, 'rejected'],
  ['has a NUL', '<p>a\0b</p>', 'rejected'],
  ['has half a character', '<p>\uD800</p>', 'fulfilled'],
  ['is too large', 'x'.repeat(16_000_000), 'rejected'],
])('a write whose value %s fails alone at most', async (_name, value, status) => {
  const results = await Promise.allSettled(
    users.map((user, index) => save(user, index === 3 ? (value as string) : `<p>${index}</p>`)),
  );
  expect(results.map((result) => result.status)).toEqual(users.map((_, index) => (index === 3 ? status : 'fulfilled')));
  const reason = results[3]!.status === 'rejected' ? String(results[3]!.reason) : '';
  if (value === UNSENDABLE) expect(reason).toBe('TypeError: unsendable');
});

test('users share no transaction for a while after one whose commit failed', async () => {
  await db.admin.query(`create or replace function refuse_at_commit() returns trigger language plpgsql as
      $$ begin if new.content like '%fails%' then raise 'at commit' using errcode = '23514'; end if; return null; end $$;
    create constraint trigger refuse_at_commit after update on entries deferrable initially deferred
      for each row execute function refuse_at_commit()`);
  onTestFinished(() => db.admin.query('drop trigger refuse_at_commit on entries') as unknown as Promise<void>);
  const failing = await Promise.allSettled(
    users.map((user, index) => save(user, index === 3 ? '<p>fails</p>' : `<p>${index}</p>`)),
  );
  expect(failing.map(({ status }) => status)).toEqual(
    users.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')),
  );
  // The first rounds prepare the statements of the connections.
  for (let round = 0; round < 6; round += 1) {
    const saved = await Promise.all(users.map((user) => save(user, '<p>later</p>')));
    expect(new Set(saved.map((row) => row!.transaction)).size).toBe(MAX_WRITES);
  }
});

test('a user has one write in a transaction, and one set aside is so in every session', async () => {
  const [first, second, other] = await Promise.all([
    save(users[0]!, '<p>1</p>'),
    save(users[0]!, '<p>2</p>'),
    save(users[1]!, '<p>3</p>'),
  ]);
  expect(first!.transaction).not.toBe(second!.transaction);
  expect(other!.transaction).toBe(first!.transaction);
  await Promise.allSettled([save(users[1]!, 'x'.repeat(262_144 + 65)), save(users[2]!, '<p>x</p>')]);
  await expect
    .poll(async () => {
      // Not the first user: the second of those two writes may have waited for the first one's lock too long.
      const saved = await Promise.all([users[3]!, users[2]!, users[1]!].map((user) => save(user, '<p>x</p>')));
      const [a, b, failed] = saved.map((row) => row!.transaction);
      return a === b && failed !== a;
    })
    .toBe(true);
});

test.each([1, MAX_WRITES - 1])('%i writes that wait for locks do not hold up the others', async (count) => {
  const locker = await db.admin.connect();
  await locker.query('begin');
  await locker.query('select from entries where user_id = any($1) for update', [users.slice(0, count)]);
  const saves = users.map((user, index) => save(user, `<p>${index}</p>`));
  const locked = saves.splice(0, count);
  // The locks are held until these have ended.
  await Promise.all(saves);
  await locker.query('rollback');
  locker.release();
  expect((await Promise.all(locked)).map((row) => row!.caller)).toEqual(users.slice(0, count));
});

test('two transactions that want the same rows in different orders both end', async () => {
  const rounds = Array.from(
    { length: 2 * MAX_WRITES },
    (_, index) => users[index < MAX_WRITES ? index : 2 * MAX_WRITES - 1 - index]!,
  );
  const saved = await Promise.all(rounds.map((user, index) => save(user, `<p>${index}</p>`)));
  expect(saved.map((row) => row!.caller)).toEqual(rounds);
});

test('the writes of a connection that is lost end, and later ones are saved', async () => {
  const locker = await db.admin.connect();
  await locker.query('begin');
  await locker.query('select from entries where user_id = any($1) for update', [users]);
  const saves = Promise.allSettled(users.map((user) => save(user, '<p>lost</p>')));
  const waits = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const terminate = async () =>
    (await db.admin.query(`select pg_terminate_backend(pid) from (${waits}) as waits`)).rowCount;
  await expect.poll(terminate, { interval: 1 }).toBeGreaterThan(0);
  await locker.query('rollback');
  locker.release();
  const failed = (await saves).flatMap((result) => (result.status === 'rejected' ? [codeOf(result.reason)] : []));
  expect(failed.every((code) => code === undefined || code.startsWith('57P') || code.startsWith('08'))).toBe(true);
  expect(await save(users[0]!, '<p>after</p>')).toBeDefined();
});

test('writes of any users, rows and kinds end as if each had run alone', async () => {
  const write = fc.record({
    caller: fc.nat({ max: 4 }),
    row: fc.nat({ max: 4 }),
    kind: fc.constantFrom('save', 'too long', 'future', 'unsendable', 'NUL'),
    later: fc.boolean(),
  });
  const FAIL = `update public.entries set date = current_date + 30 where user_id = $1 and content <> $2 returning revision`;
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 2, maxLength: 12 }), async (writes) => {
      const results: Promise<string>[] = [];
      for (const [index, { caller, row, kind, later }] of writes.entries()) {
        if (later) await nextTurn();
        const contents: Readonly<Record<string, unknown>> = {
          'too long': 'x'.repeat(262_144 + 65),
          unsendable: UNSENDABLE,
          NUL: '\0',
        };
        const content = contents[kind] ?? `<p>${randomUUID()} ${index}</p>`;
        results.push(
          database
            .asUser(identity(users[caller]!), { isQuickWrite: true })
            .statement(kind === 'future' ? FAIL : SAVE, [users[row]!, content])
            .then(
              ({ rowCount }) => String(rowCount),
              (error: unknown) => codeOf(error) ?? String(error),
            ),
        );
      }
      const expected = writes.map(({ caller, row, kind }) => {
        if (kind === 'unsendable') return 'TypeError: unsendable';
        if (kind === 'NUL') return '22021';
        if (caller !== row) return '0';
        return kind === 'save' ? '1' : kind === 'future' ? '42501' : '23514';
      });
      expect(await Promise.all(results)).toEqual(expected);
    }),
    { numRuns: fuzzBudget(60) },
  );
});

test('a foreign answer rejects every write of its transaction, and later ones share none', async () => {
  const dropToken = vi.spyOn(RlsQuery.prototype, 'handleDataRow').mockImplementationOnce(() => undefined);
  onTestFinished(() => dropToken.mockRestore());
  const results = await Promise.allSettled(users.map((user) => save(user, '<p>foreign</p>')));
  for (const result of results) expect(result).toMatchObject({ reason: expect.any(ForeignAnswerError) });
  const saved = await Promise.all(users.map((user) => save(user, '<p>later</p>')));
  expect(new Set(saved.map((row) => row!.transaction)).size).toBe(MAX_WRITES);
});

/** Tests that quick reads share connections, and that nothing else does. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import type { Identity } from '../database.ts';
import { ForeignAnswerError, RlsQuery } from '../rls-query.ts';
import { createRequestContext, runInRequestContext } from '#server/load/request-context.ts';
import type { RequestPool } from './request-pool.ts';
import { MAX_PIPELINED, shareConnections } from './share-connections.ts';

let db: TestDatabase;
beforeAll(async () => {
  // A stall of the machine must not end the reads that wait at the gate.
  db = await createTestDatabase({ isDirect: true, quickReadLimitMs: 60_000 });
});
afterAll(() => db.drop());

const identity = (sub: string): Identity => ({ role: 'authenticated', claimsJson: JSON.stringify({ sub }) });
const ADA = identity('ada');
/** Waits while the gate is closed, so that no read ends before the others have started. */
const READ = `select pg_backend_pid() as connection, current_user::text as role, $1::text as value,
  current_setting('request.jwt.claims')::json ->> 'sub' as sub, pg_advisory_xact_lock_shared(0)::text as gate`;
type Seen = { connection: number; role: string; sub: string; value: string };

const quickRead = async (whose: Identity, value: unknown = '', text = READ): Promise<Seen> =>
  (await db.database.asUser(whose, { isQuickRead: true }).statement<Seen>(text, [value])).rows[0]!;
const read = async (value = ''): Promise<Seen> =>
  (await db.database.asUser(ADA).statement<Seen>(READ, [value])).rows[0]!;

/** Long enough for the pool to give an idle connection, without another turn of the event loop. */
async function inSameTurn(): Promise<void> {
  for (let tick = 0; tick < 5; tick += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
}

async function inLaterTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await nextTurn();
}

type Gate = { open(): Promise<void> };

async function closeGate(): Promise<Gate> {
  const locker = await db.admin.connect();
  await locker.query('begin; select pg_advisory_xact_lock(0)');
  return {
    async open() {
      await locker.query('rollback');
      locker.release();
    },
  };
}

/**
 * Starts the works one after the other: by default in one turn of the event loop, like requests that arrive together.
 * Opens the gate once all statements are sent.
 */
async function startTogether<T>(
  works: readonly (() => Promise<T>)[],
  between = inSameTurn,
): Promise<PromiseSettledResult<T>[]> {
  const gate = await closeGate();
  await nextTurn();
  const results: Promise<T>[] = [];
  for (const work of works) {
    results.push(work());
    await between();
  }
  await gate.open();
  return Promise.allSettled(results);
}

const valuesOf = <T>(results: PromiseSettledResult<T>[]): T[] =>
  results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });

/** The connection that the pool gives next. It has `READ` prepared. */
let prepared: number;
beforeEach(async () => {
  prepared = (await quickRead(ADA)).connection;
});

const NOT_SERIALISED = 'not serialised';
const unserialisable = {
  toPostgres() {
    throw new Error(NOT_SERIALISED);
  },
};
const WAITING = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

test('quick reads of different users that start together use one connection', async () => {
  const users = Array.from({ length: MAX_PIPELINED }, (_, index) => identity(`user ${index}`));
  const seen = valuesOf(await startTogether(users.map((user) => () => quickRead(user))));
  expect(new Set(seen.map(({ connection }) => connection)).size).toBe(1);
  expect(seen.map(({ sub }) => sub)).toEqual(users.map((_, index) => `user ${index}`));
});

test('a connection gets no more quick reads than a pipeline may have', async () => {
  // Each read has an address of its own, because the limiter allows one address fewer connections.
  const reads = Array.from(
    { length: MAX_PIPELINED + 1 },
    (_, index) => () => runInRequestContext(createRequestContext(`203.0.113.${index}`), () => quickRead(ADA)),
  );
  const connections = valuesOf(await startTogether(reads)).map(({ connection }) => connection);
  expect(new Set(connections.slice(0, -1)).size).toBe(1);
  expect(new Set(connections).size).toBe(2);
});

test('a quick read that starts in a later turn uses another connection', async () => {
  const [first, second] = valuesOf(await startTogether([() => quickRead(ADA), () => quickRead(ADA)], inLaterTurn));
  expect(first!.connection).not.toBe(second!.connection);
});

test('other statements and transactions share no connection', async () => {
  const inTransaction = () =>
    db.database.transactAsUser(ADA, async (transaction) => (await transaction.statement<Seen>(READ, [''])).rows[0]!);
  const works = [read, () => quickRead(ADA), read, inTransaction, () => quickRead(ADA), inTransaction];
  const seen = valuesOf(await startTogether(works));
  const [, quick] = seen;
  expect(seen[4]!.connection).toBe(quick!.connection);
  expect(new Set(seen.map(({ connection }) => connection)).size).toBe(5);
});

test('a quick read joins no connection that serves a transaction because its own read has failed', async () => {
  const failing = () => expect(quickRead(ADA, unserialisable)).rejects.toThrow(NOT_SERIALISED);
  const inTransaction = () =>
    db.database.transactAsUser(ADA, async (transaction) => (await transaction.statement<Seen>(READ, [''])).rows[0]!);
  const [, transaction, quick] = await startTogether<Seen | void>([failing, inTransaction, () => quickRead(ADA)]);
  expect(valuesOf([transaction!])[0]).toMatchObject({ connection: prepared });
  expect(valuesOf([quick!])[0]).not.toMatchObject({ connection: prepared });
});

/** A pool whose connections the test gives out. */
function createManualPool({ idleCount }: { idleCount: number }) {
  const waiting: (() => void)[] = [];
  const pool = {
    options: { max: 2 * MAX_PIPELINED },
    idleCount,
    get waitingCount() {
      return waiting.length;
    },
    connect: () =>
      new Promise((resolve) => {
        const stream = { cork: () => undefined, uncork: () => undefined };
        waiting.push(() => resolve({ connection: { stream } }));
      }),
  };
  return { waiting, requests: { pool, release: () => undefined } as unknown as RequestPool };
}

test('quick reads that start at the same moment fill one pipeline after the other', async () => {
  const { waiting, requests } = createManualPool({ idleCount: 16 });
  const connections = shareConnections(requests);
  const leases = Promise.all(
    Array.from({ length: 2 * MAX_PIPELINED }, (_, index) =>
      runInRequestContext(createRequestContext(`203.0.113.${index}`), () => connections.leasePipelined(() => true)),
    ),
  );
  for (const pipelines of [1, 2]) {
    await inSameTurn();
    expect(waiting).toHaveLength(pipelines);
    waiting[pipelines - 1]!();
  }
  expect(new Set((await leases).map(({ client }) => client)).size).toBe(2);
});

test('a quick read does not wait for another one whose connection must be opened', async () => {
  const { waiting, requests } = createManualPool({ idleCount: 1 });
  const connections = shareConnections(requests);
  void connections.lease();
  await inSameTurn();
  void connections.leasePipelined(() => true);
  await inSameTurn();
  const third = connections.leasePipelined(() => true);
  await inSameTurn();
  expect(waiting).toHaveLength(3);
  waiting[2]!();
  await third;
});

test('a connection that cannot be opened frees its place in the limiter', async () => {
  const { requests } = createManualPool({ idleCount: 0 });
  const connections = shareConnections(requests);
  Object.assign(requests.pool, { connect: () => Promise.reject(new Error('refused')) });
  await expect(connections.lease()).rejects.toThrow('refused');
  await expect(connections.leasePipelined(() => true)).rejects.toThrow('refused');
  expect(connections.limiter.state().running).toBe(0);
});

test('a statement that is not prepared on the connection joins no pipeline', async () => {
  const text = `${READ} /* new */`;
  const seen = valuesOf(await startTogether([() => quickRead(ADA), () => quickRead(ADA, '', text)]));
  expect(seen[0]!.connection).not.toBe(seen[1]!.connection);
});

test('a slow read of one user delays the reads behind it for its limit only', async () => {
  const limited = await createTestDatabase({ isDirect: true });
  onTestFinished(() => limited.drop());
  const SLEEP =
    'select pg_backend_pid() as connection, current_user::text as role, pg_sleep($1::text::float8)::text as slept';
  const sleep = async (whose: Identity, seconds: string) =>
    (await limited.database.asUser(whose, { isQuickRead: true }).statement<Seen>(SLEEP, [seconds])).rows[0]!;
  const { connection } = await sleep(ADA, '0');
  let isSlowAnswered = false;
  const slow = sleep(identity('eve'), '3').finally(() => (isSlowAnswered = true));
  await inSameTurn();
  const behind = await sleep(ADA, '0');
  expect(behind.connection).toBe(connection);
  expect(isSlowAnswered).toBe(false);
  // The slow read is repeated alone, with the time of other statements.
  expect((await slow).role).toBe('authenticated');

  const repeated = sleep(identity('eve'), '1');
  await inSameTurn();
  expect((await sleep(ADA, '0')).connection, 'shared with a read that was slow before').not.toBe(
    (await repeated).connection,
  );
});

test('reads that were slow before run one of a user and two of all users at a time', async () => {
  const limited = await createTestDatabase({ isDirect: true, quickReadLimitMs: 50 });
  onTestFinished(() => limited.drop());
  const holder = await limited.admin.connect();
  await holder.query('begin; select pg_advisory_xact_lock(0)');
  const readAs = (user: string) =>
    runInRequestContext({ ...createRequestContext(`address of ${user}`), userId: user }, () =>
      limited.database.asUser(identity(user), { isQuickRead: true }).statement<Seen>(READ, [user]),
    );
  const countWaiting = async (): Promise<number> => {
    const { rows } = await limited.admin.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_locks join pg_database on pg_database.oid = pg_locks.database
        where datname = current_database() and locktype = 'advisory' and not granted`,
    );
    return rows[0]!.waiting;
  };
  let ended = 0;
  const users = ['eve', 'eve', 'eve', 'mallory', 'mallory', 'trudy', 'oscar'];
  const reads = users.map((user) => readAs(user).finally(() => (ended += 1)));
  await expect
    .poll(() => limited.database.slowReads.state(), { timeout: 10_000 })
    .toMatchObject({ running: 2, queued: 5 });
  await expect.poll(countWaiting).toBe(2);
  expect(ended).toBe(0);
  await holder.query('rollback');
  holder.release();
  expect((await Promise.all(reads)).map(({ rows }) => rows[0]!.value)).toEqual(users);
});

test('a lost connection rejects the reads of its pipeline only', async () => {
  const gate = await closeGate();
  const reads = [quickRead(ADA)];
  await inSameTurn();
  reads.push(quickRead(ADA), quickRead(ADA));
  await inLaterTurn();
  const other = read();
  const settled = Promise.allSettled(reads);
  try {
    await expect.poll(async () => (await db.admin.query(`${WAITING} and pid = ${prepared}`)).rowCount).toBe(1);
    await db.admin.query('select pg_terminate_backend($1)', [prepared]);
    const results = await settled;
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  } finally {
    await gate.open();
  }
  expect((await other).sub).toBe('ada');
  expect((await quickRead(ADA)).sub).toBe('ada');
});

type Kind = 'fine' | 'rejected by PostgreSQL' | typeof NOT_SERIALISED | 'not quick';
const kinds = fc.constantFrom<Kind>('fine', 'fine', 'fine', 'rejected by PostgreSQL', NOT_SERIALISED, 'not quick');
const requests = fc.array(
  fc.record({ user: fc.constantFrom('ada', 'bob', 'eve'), kind: kinds, isLater: fc.boolean() }),
  { minLength: 2, maxLength: 30 },
);

test('each statement sees its own user and gets its own result, whatever fails beside it', async () => {
  const DIVIDE = `select ${READ.slice('select'.length)}, 1 / length($1::text) as quotient`;
  await fc.assert(
    fc.asyncProperty(requests, async (sent) => {
      const results = sent.map(async ({ user, kind, isLater }, index) => {
        for (let earlier = 0; earlier < index; earlier += 1) await (isLater ? nextTurn() : inSameTurn());
        if (kind === NOT_SERIALISED) return quickRead(identity(user), unserialisable);
        if (kind === 'rejected by PostgreSQL') return quickRead(identity(user), '', DIVIDE);
        const asUser = db.database.asUser(identity(user), { isQuickRead: kind === 'fine' });
        return (await asUser.statement<Seen>(READ, [`${user} ${index}`])).rows[0]!;
      });
      for (const [index, result] of (await Promise.allSettled(results)).entries()) {
        const { user, kind } = sent[index]!;
        if (kind === NOT_SERIALISED) expect(result).toMatchObject({ reason: { message: kind } });
        else if (kind === 'rejected by PostgreSQL') expect(result).toMatchObject({ reason: { code: '22012' } });
        else expect(result).toMatchObject({ value: { role: 'authenticated', sub: user, value: `${user} ${index}` } });
      }
    }),
    { numRuns: fuzzBudget(40) },
  );
});

test('a foreign answer ends its pipeline at once, and the reads after it share no connection', async () => {
  const dropToken = vi.spyOn(RlsQuery.prototype, 'handleDataRow').mockImplementationOnce(() => undefined);
  onTestFinished(() => dropToken.mockRestore());
  const gate = await closeGate();
  const reads = [quickRead(ADA, '', 'select $1::text as value')];
  await inSameTurn();
  reads.push(quickRead(ADA), quickRead(ADA));
  try {
    const [first, ...others] = await Promise.allSettled(reads);
    expect(first).toMatchObject({ reason: expect.any(ForeignAnswerError) });
    expect(others.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  } finally {
    await gate.open();
  }
  const seen = valuesOf(await startTogether([() => quickRead(ADA), () => quickRead(ADA)]));
  expect(seen[0]!.connection).not.toBe(seen[1]!.connection);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NoPrimaryError } from '#server/database/connection/primary-finder.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import {
  describeLogin,
  describeConnectFailure,
  checkServer,
  checkReplication,
  missedReleases,
  poolerCheck,
} from './database-checks.ts';
import { runDoctor } from './doctor-command.ts';
import { createLog } from '#server/log.ts';
import { lines, configOf, run, unreachableUrl } from '../../../tests/support/commands/doctor-checks.ts';
import { withOrdinaryOwner, createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { startStubPooler } from '../../../tests/support/servers/stub-pooler.ts';

let db: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  db = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-doctor-'));
});
afterAll(async () => {
  await db.drop();
  await rm(dataDir, { recursive: true });
});

const environment = (databaseUrl: string): Record<string, string> => ({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir });

test('says that the first start makes the login and the tables of an empty database', async () => {
  await withOrdinaryOwner({ url: db.url, admin: db.admin }, async (url) => {
    const only = ['roles', 'migrations', 'connections'].flatMap((name) => ['--only', name]);
    const { results } = await runDoctor(only, environment(url));
    expect(results.flatMap(({ findings }) => lines(findings))).toEqual([
      'warning the login for requests does not exist yet',
      'warning the database is empty',
      expect.stringMatching(/^ok one process takes up to \d+ connections/),
    ]);
  });
});

test('names the role that only a superuser can create on PostgreSQL 15', async () => {
  const query = async () => ({ rows: [{ exists: false, mayCreate: false }] });
  const { text, fix } = await describeLogin({ query } as unknown as pg.Client, 'postgres://ada:x@db/journal');
  expect(text).toBe('service_role does not exist, and on PostgreSQL 15 only a superuser can create it');
  expect(fix).toContain('create role service_role nologin noinherit bypassrls');
});

test('names each fault of roles, migrations and connections', async () => {
  await withOrdinaryOwner({ url: db.url, admin: db.admin }, async (url, owner) => {
    await migrate(url, createLog('silent'));
    const login = `${owner}_requests`;
    const ledger = (columns: string, values: string) =>
      `insert into migrations.applied (set, number, name, checksum${columns}) values ('app', 9999, 'later', 'x'${values})`;
    const forget = 'delete from migrations.applied where number = 9999';
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    // When an expectation fails, the database is dropped while this client is connected. Without a listener its error
    // would end the run.
    database.on('error', () => {});
    const diagnose = async (
      name: string,
      sql: string,
      back: string,
      client: Pick<pg.Client, 'query'>,
      settings: Record<string, string> = {},
    ) => {
      await client.query(sql);
      const { results } = await runDoctor(['--only', name], { ...environment(url), ...settings });
      await client.query(back);
      return lines(results[0]!.findings)[0];
    };
    const { admin } = db;
    expect(await diagnose('roles', 'select', 'select', admin)).toMatch(/^ok the login for requests has no rights/);
    expect(
      await diagnose('roles', `alter role ${login} createrole`, `alter role ${login} nocreaterole`, admin),
    ).toMatch(/^fault the role that requests log in with is too privileged/);
    expect(
      await diagnose('roles', `revoke anon from ${login} granted by ${owner}`, `grant anon to ${login}`, database),
    ).toBe('fault the login for requests may not act as anon');
    expect(await diagnose('roles', `alter role ${login} password 'x'`, 'select', admin)).toBe(
      'fault the login for requests does not work',
    );
    const limit = (count: number) => `alter role ${login} connection limit ${count}`;
    await migrate(url, createLog('silent'));
    expect(await diagnose('roles', limit(0), limit(-1), admin)).toBe('fault the database has no connection left');
    const limitOwner = (count: number) => `alter role ${owner} connection limit ${count}`;
    expect(await diagnose('database', limitOwner(0), limitOwner(-1), admin)).toBe(
      'fault the database has no connection left',
    );
    const readOnly = 'default_transaction_read_only';
    const reset = `alter database ${owner} reset ${readOnly}`;
    expect(await diagnose('database', `alter database ${owner} set ${readOnly} = on`, reset, admin)).toMatch(
      /^fault PostgreSQL .+ only reads \(default_transaction_read_only\)$/,
    );
    expect(await diagnose('connections', limit(3), limit(-1), admin)).toMatch(
      /^warning one process takes up to \d+ connections, but the role for requests may have 3 connections$/,
    );
    const pooled = { DATABASE_POOL_URL: 'postgres://127.0.0.1:9/journal', WEB_CONCURRENCY: '2' };
    expect(await diagnose('connections', limit(3), limit(-1), admin, pooled)).toBe(
      'warning 2 processes take up to 9 connections beside those of the pooler, but the role for requests may have 3 connections',
    );
    expect(await diagnose('migrations', ledger(', phase', ", 'contract'"), forget, database)).toMatch(
      /^fault the database is newer than this program: it has app\/9999_later/,
    );
    expect(await diagnose('migrations', ledger('', ''), forget, database)).toBe(
      'warning a newer version of this program has applied app/9999_later',
    );
    const older = `create table migrations.kept as table migrations.applied;
      delete from migrations.applied where set = 'app' and number > 39;
      update migrations.applied set number = 22, name = 'versions_apart' where set = 'app'`;
    const newest = `truncate migrations.applied; insert into migrations.applied table migrations.kept;
      drop table migrations.kept`;
    expect(await diagnose('migrations', older, newest, database)).toMatch(
      /^fault the database is of an older version: it has 1 of the 39 migrations that app\/0039_baseline replaces/,
    );
    expect(await diagnose('migrations', 'delete from migrations.applied', 'select', database)).toMatch(
      /^warning pending migrations: auth\/0009_baseline, app\/0039_baseline/,
    );
    expect(await diagnose('migrations', 'drop table migrations.applied', 'select', database)).toBe(
      'warning the database is empty',
    );
    await database.end();
  });
});

test('names settings that lose acknowledged saves', async () => {
  // The server of the tests runs without fsync.
  const { results } = await runDoctor(['--only', 'durability'], environment(db.url));
  expect(lines(results[0]!.findings)).toEqual([
    'warning fsync, full_page_writes, synchronous_commit: off, so a crash can lose acknowledged saves',
  ]);
});

test.each([
  ['password', 'fault the database refuses the login'],
  ['database', 'fault database "nowhere" does not exist'],
])('names a wrong %s', async (what, expected) => {
  const url =
    what === 'password' ? db.url.replace(/\/\/(\w+):[^@]*@/, '//$1:wrong@') : db.url.replace(/\/\w+\?/, '/nowhere?');
  const { results } = await runDoctor(['--only', 'database', '--only', 'roles'], environment(url));
  expect(lines(results[0]!.findings)[0]).toContain(expected);
  expect(results[1]!.findings).toEqual([]);
});

test.each([
  [new NoPrimaryError('no server of DATABASE_URL accepts writes'), /^Promote a standby, or wait for the failover/],
  [Object.assign(new Error('the database system is starting up'), { code: '57P03' }), /^It starts or stops/],
  [new Error('The server does not support SSL connections'), /^Turn ssl on/],
])('says what to do about: %s', (error, fix) => {
  expect(describeConnectFailure(error)).toEqual({
    status: 'fault',
    text: error.message,
    fix: expect.stringMatching(fix) as string,
  });
});

// The findings about servers that the tests do not have. database-checks.test.ts runs the statement.

const USABLE = { version: '15.1', number: 150_001, isStandby: false, isReadOnly: false, size: 2_000_000 };

test.each([
  ['the oldest supported version', {}, 'ok', /^PostgreSQL 15\.1 answers in \d+ ms and holds 2\.0 MB$/, null],
  [
    'a version that is too old',
    { version: '14.9', number: 140_009 },
    'fault',
    /^PostgreSQL 14\.9 is too old$/,
    /15 or newer/,
  ],
  ['a standby', { isStandby: true, isReadOnly: true }, 'fault', /^PostgreSQL 15\.1 is a standby/, /primary.*promote/],
  ['a setting that forbids writes', { isReadOnly: true }, 'fault', /default_transaction_read_only/, /^Reset/],
])('names %s', async (_what, state, status, text, fix) => {
  const query = async () => ({ rows: [{ ...USABLE, ...state }] });
  const [finding] = await checkServer({ query } as unknown as pg.Client, 'PostgreSQL', null);
  expect(finding).toMatchObject({ status, text: expect.stringMatching(text) as string });
  if (fix) expect(finding).toMatchObject({ fix: expect.stringMatching(fix) as string });
});

// The dates of real releases: https://www.postgresql.org/docs/release/.
test.each([
  [180_004, '2026-05-13', []],
  [180_004, '2026-08-12', []],
  [180_004, '2026-08-13', ['2026-08-13']],
  [180_004, '2026-11-28', ['2026-08-13', '2026-11-12']],
  [180_000, '2025-11-12', []],
  [180_000, '2026-02-26', ['2025-11-13', '2026-02-12', '2026-02-26']],
  [170_010, '2026-08-12', []],
  [160_014, '2026-08-12', []],
  [170_003, '2025-05-08', ['2025-02-20', '2025-05-08']],
  [180_012, '2026-11-28', []],
])('version %i lacks these releases on %s: %j', (version, day, expected) => {
  expect(missedReleases(version, new Date(`${day}T00:00:00Z`))).toEqual(expected);
});

test('says that the embedded server is behind once it lacks two minor releases', async () => {
  const query = async () => ({ rows: [{ ...USABLE, version: '18.4', number: 180_004 }] });
  const findingsOn = (day: string) =>
    checkServer({ query } as unknown as pg.Client, 'embedded PostgreSQL', new Date(`${day}T12:00:00Z`));
  expect(await findingsOn('2026-11-11')).toHaveLength(1);
  expect((await findingsOn('2026-11-12'))[1]).toEqual({
    status: 'warning',
    text: 'embedded PostgreSQL 18.4 is at least 2 minor releases behind: the newest is of 2026-11-12 or later',
    fix: 'Update this program, or install PostgreSQL 18 on this machine: a restart takes the newer of the two.',
  });
});

// The findings about standbys and slots that a test server does not have. doctor.test.ts runs the statements.

const GIGABYTE = 1_000_000_000;

type Server = {
  names?: string;
  standbys?: { name: string; state: string | null; sync: string | null; lag: number | null }[];
  slots?: { name: string; bytes: number }[];
};

async function findingsOf({ names = '', standbys = [], slots = [] }: Server): Promise<string[]> {
  const query = async (text: string) => ({
    rows: text.includes('pg_replication_slots') ? slots : [{ names, standbys }],
  });
  return lines(await checkReplication({ query } as unknown as pg.Client));
}

const standby = (sync: string, lag: number | null) => ({ name: 'pg2', state: 'streaming', sync, lag });

test.each<[string, Server, string[]]>([
  ['no standby', {}, ['ok there is no standby; backups are the only second copy']],
  [
    'standbys that follow',
    { names: 'pg2', standbys: [standby('sync', 0.1), standby('async', null)] },
    ['ok 2 standbys follow, 1 of them synchronous'],
  ],
  [
    'no synchronous standby where one is required',
    { names: 'pg2', standbys: [standby('async', 0.1)] },
    ['fault no synchronous standby is connected (synchronous_standby_names = pg2), so every save waits'],
  ],
  [
    'a quorum',
    { names: 'any 1 (pg2)', standbys: [standby('quorum', 30)] },
    ['ok 1 standbys follow, 1 of them synchronous'],
  ],
  ['a standby that lags', { standbys: [standby('async', 31.4)] }, ['warning the standby pg2 lags 31 s behind']],
  [
    'standbys that the user may not see',
    { names: 'pg2', standbys: [{ name: 'pg2', state: null, sync: null, lag: null }] },
    ['warning this user cannot see the lag of the standbys'],
  ],
  [
    'an unused slot that keeps little',
    { slots: [{ name: 'old', bytes: 5 * GIGABYTE }] },
    ['ok there is no standby; backups are the only second copy'],
  ],
  [
    'an unused slot that fills the disk',
    { slots: [{ name: 'old', bytes: 6 * GIGABYTE }] },
    ['warning the replication slot old is not used and keeps 6.0 GB of WAL on the disk'],
  ],
])('names %s', async (_what, server, expected) => {
  expect(await findingsOf(server)).toEqual(expected);
});

async function diagnosePooler(poolUrl: string | null): Promise<string[]> {
  const config = configOf({ DATABASE_URL: db.url, ...(poolUrl !== null && { DATABASE_POOL_URL: poolUrl }) });
  return lines(await run(poolerCheck({ url: db.url, problem: null }, config)));
}

async function diagnoseStub(mode: 'session' | 'transaction' | 'statement'): Promise<string[]> {
  const pooler = await startStubPooler({ serverUrl: db.url, mode });
  try {
    return await diagnosePooler(pooler.url);
  } finally {
    await pooler.stop();
  }
}

test('names what a pooler does to requests, as a start of the server does', async () => {
  expect(await diagnosePooler(null)).toEqual(['off requests reach the database without a pooler']);
  expect(await diagnoseStub('session')).toEqual(['ok the pooler keeps requests apart and takes named statements']);
  expect(await diagnoseStub('transaction')).toEqual([
    expect.stringMatching(/^warning the pooler .* mixes prepared statements: .*max_prepared_statements = 200$/),
  ]);
  expect(await diagnoseStub('statement')).toEqual([
    'fault the pooler of DATABASE_POOL_URL allows no transactions: set pool_mode = transaction',
  ]);
  const { port } = new URL(await unreachableUrl());
  expect(await diagnosePooler(`postgres://127.0.0.1:${port}/journal`)).toEqual([
    expect.stringMatching(/^fault DATABASE_POOL_URL cannot be reached: .*ECONNREFUSED.*\. Check its host and port/),
  ]);
});

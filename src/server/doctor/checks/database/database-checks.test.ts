import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lines } from '../../../../../tests/support/commands/doctor-checks.ts';
import { withOrdinaryOwner } from '../../../../../tests/support/ordinary-owner.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { NoPrimaryError } from '#server/database/connection/primary-finder.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';
import { runDoctor } from '../../doctor-command.ts';
import { describeLogin } from './check-roles.ts';
import { describeConnectFailure } from './describe-connect-failure.ts';

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
    const older = "update migrations.applied set number = 22, name = 'versions_apart' where set = 'app'";
    const newest = "update migrations.applied set number = 39, name = 'baseline' where set = 'app'";
    expect(await diagnose('migrations', older, newest, database)).toMatch(
      /^fault the database is of an older version: it has 1 of the 39 migrations that app\/0039_baseline replaces/,
    );
    expect(await diagnose('migrations', 'delete from migrations.applied', 'select', database)).toMatch(
      /^warning pending migrations: auth\/0009_baseline, app\/0039_baseline$/,
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

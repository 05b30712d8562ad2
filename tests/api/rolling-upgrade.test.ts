/**
 * A rolling upgrade: two versions of the program serve one database while the newer one expands, backfills and indexes
 * it. A save through either version is right. A contraction waits until the older version has stopped.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { PUBLISHABLE_KEY, readConfig } from '#server/config/config.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { openDatabase } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { MIGRATIONS, readMigrations } from '#server/database/migrations/migration-files.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import { isPartitioned } from '../support/partition-tables.ts';
import { fastPasswords } from '../support/passwords.ts';
import { fuzzBudget } from '../support/fuzz-budget.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { daysAgo } from './data/fixture.ts';

/** The newer version counts the characters of each log, also of those that the older one saves. */
const RELEASE = [
  `-- phase: expand
alter table public.entries add column size integer;
create function public.measure_entry() returns trigger language plpgsql set search_path = ''
as $$
begin
  new.size := char_length(new.content_text);
  return new;
end
$$;
create trigger z_measure_entry before insert or update on public.entries
  for each row execute function public.measure_entry();
alter table public.entries add constraint entries_sized check (size is not null) not valid;`,
  `-- phase: migrate
update public.entries set size = char_length(content_text)
 where (user_id, date) in (select user_id, date from public.entries where size is null limit 100);`,
  `-- phase: migrate
alter table public.entries validate constraint entries_sized;`,
  `-- phase: migrate
create index concurrently if not exists entries_by_size on public.entries (user_id, size);`,
  `-- phase: contract
alter table public.entries alter column ai_feedback set default null;`,
];

const WRITERS = 4;
const SAVES = fuzzBudget(20);
/** The number of logs that the older version writes before the upgrade, for the backfill. */
const OLD_LOGS = fuzzBudget(250);

type Version = { url: string; database: Database; stop(): Promise<void> };
type Row = { id: string; revision: number; content: string };

let db: TestDatabase;
let folder = '';
const running: Version[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-upgrade-'));
  await cp(MIGRATIONS, pathToFileURL(`${folder}/migrations/`), { recursive: true });
  const last = (await readMigrations()).at(-1)!.number;
  for (const [index, sql] of RELEASE.entries()) {
    const number = String(last + 1 + index).padStart(4, '0');
    await writeFile(join(folder, 'migrations', 'app', `${number}_release_${index + 1}.sql`), sql);
  }
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const version of running.splice(0)) await version.stop();
  await db.drop();
});

const countServers = async (): Promise<unknown> =>
  (
    await db.admin.query(
      `select from pg_stat_activity
        where datname = current_database() and starts_with(application_name, 'hustle-forge-changes')`,
    )
  ).rowCount;

async function start(version: 'older' | 'newer'): Promise<Version> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const log = createLog('error');
  const database = await openDatabase({
    config: { databaseUrl: new Secret(db.url), dataDir: folder },
    log,
    ...(version === 'newer' && { migrationsFolder: pathToFileURL(`${folder}/migrations/`) }),
  });
  const config = readConfig({ PORT: String(port), PUBLIC_URL: url, DATA_DIR: folder, AUTH_RATE_LIMITS: 'off' });
  const clock = { now: () => new Date() };
  const serving = await serve({ config, database, clock, log, passwords: fastPasswords });
  const started: Version = {
    url,
    database,
    async stop() {
      running.splice(running.indexOf(started), 1);
      await serving.stop();
      await database.close();
    },
  };
  running.push(started);
  // A contraction finds older servers by their connections for changes, and this server connects in the background.
  await expect.poll(countServers).toBe(running.length);
  return started;
}

const clientOf = ({ url }: Version, token: string): SupabaseClient =>
  createClient(url, PUBLISHABLE_KEY, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { headers: { authorization: `Bearer ${token}` } },
  });

async function signUp({ url }: Version, email: string): Promise<{ id: string; token: string }> {
  const client = createClient(url, PUBLISHABLE_KEY, { auth: { persistSession: false, autoRefreshToken: false } });
  const { data, error } = await client.auth.signUp({ email, password: 'correct horse' });
  if (error) throw error;
  return { id: data.user!.id, token: data.session!.access_token };
}

/** Saves one day again and again, each time through the next version, and checks each answer. */
async function write(writer: number, versions: () => Version[], enough: () => boolean): Promise<number> {
  const { id, token } = await signUp(versions()[0]!, `writer-${writer}@example.com`);
  const log = (round: number): string => `<p>${'word '.repeat(round % 9)}round ${round}</p>`;
  const days = (version: Version) => clientOf(version, token).from('entries');
  const { data } = await days(versions()[0]!)
    .insert({ user_id: id, date: daysAgo(0), content: log(0) })
    .select('id, revision, content')
    .single<Row>()
    .throwOnError();
  let row = data;
  for (let round = 1; ; round += 1) {
    const version = versions()[(writer + round) % versions().length]!;
    const other = versions().at(-1)!;
    const saved = await days(version)
      .update({ content: log(round) })
      .eq('id', row.id)
      .eq('revision', row.revision)
      .select('id, revision, content')
      .single<Row>()
      .throwOnError();
    expect(saved.data.revision).toBe(row.revision + 1);
    row = saved.data;
    const read = await days(other).select('id, revision, content').eq('date', daysAgo(0)).single<Row>().throwOnError();
    expect(read.data).toEqual(row);
    const begun = { user_id: id, date: daysAgo(1 + (round % 20)), content: log(round) };
    await days(other).upsert(begun, { onConflict: 'user_id,date' }).throwOnError();
    await days(version).delete().eq('date', begun.date).throwOnError();
    if (round >= SAVES && enough()) return round;
  }
}

const countUnsized = async (): Promise<unknown> =>
  (
    await db.admin.query(
      'select count(*)::int as wrong from entries where size is distinct from char_length(content_text)',
    )
  ).rows[0];

test.skipIf(isPartitioned)('saves through either version are right while the newer one is rolled out', async () => {
  const older = await start('older');
  await db.admin.query(`insert into auth.users (id) select gen_random_uuid() from generate_series(1, 10)`);
  await db.admin.query(
    `insert into entries (user_id, date, content)
       select id, current_date - age, '<p>old</p>' from auth.users, generate_series(1, $1) as age`,
    [OLD_LOGS / 10],
  );
  const versions = [older];
  let isUpgraded = false;
  const writers = Promise.all(
    Array.from({ length: WRITERS }, (_, writer) =>
      write(
        writer,
        () => versions,
        () => isUpgraded,
      ),
    ),
  );
  const upgrade = async (): Promise<void> => {
    const newer = await start('newer');
    versions.push(newer);
    for (const { url } of versions) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await newer.database.finishMigrations()).toMatchObject({
      applied: 3,
      waitsFor: expect.stringContaining('servers of an older version'),
    });
  };
  await upgrade().finally(() => (isUpgraded = true));
  for (const rounds of await writers) expect(rounds).toBeGreaterThanOrEqual(SAVES);
  expect(await countUnsized()).toEqual({ wrong: 0 });
});

test.skipIf(isPartitioned)('the contraction waits until the last server of the older version has stopped', async () => {
  const older = await start('older');
  const newer = await start('newer');
  expect((await newer.database.finishMigrations()).waitsFor).toContain('older version');
  await older.stop();
  await expect.poll(() => newer.database.finishMigrations()).toEqual({ applied: 1, waitsFor: null });
  await expect(start('older')).rejects.toThrow('newer than this program');
  expect((await fetch(`${newer.url}/readyz`)).status).toBe(200);
});

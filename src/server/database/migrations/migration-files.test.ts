/** Tests the forms of migration files. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { readMigrations } from './migration-files.ts';

const INDEX = `-- phase: migrate
-- A comment; with a semicolon.
create unique index concurrently if not exists profiles_mood on public.profiles (mood);`;
const BACKFILL = `-- phase: migrate
update public.profiles set mood = id::text where id in (select id from public.profiles where mood is null limit 2);`;

async function read(sql: string, name = '0001_first.sql') {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-migrations-'));
  try {
    await mkdir(join(folder, 'app'));
    await writeFile(join(folder, 'app', name), sql);
    return await readMigrations(pathToFileURL(`${folder}/`));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a file that names no phase has the phase expand', async () => {
  expect(await read('select 1;')).toMatchObject([{ set: 'app', number: 1, phase: 'expand', step: null }]);
});

test('rejects a gap in the numbers of the files', async () => {
  await expect(read('select 1;', '0002_second.sql')).rejects.toThrow('migrations are numbered');
});

test('a set can begin with a baseline, which names what it replaces', async () => {
  const sha256 = 'a'.repeat(64);
  const sql = `-- phase: expand\n-- replaces: 39 migrations, sha256 ${sha256}\nselect 1;`;
  expect(await read(sql, '0039_baseline.sql')).toMatchObject([{ number: 39, replaces: { count: 39, sha256 } }]);
  expect(await read('select 1;')).toMatchObject([{ number: 1, replaces: null }]);
});

test.each([
  ['two statements', `${INDEX}\nselect 1;`],
  ['an index that blocks writes', '-- phase: migrate\ncreate index profiles_mood on public.profiles (mood);'],
  ['an index that is not idempotent', '-- phase: migrate\ncreate index concurrently a on public.profiles (mood);'],
  ['an update of all rows', "-- phase: migrate\nupdate public.profiles set mood = '';"],
])('a file of the phase migrate cannot have %s', async (_what, sql) => {
  await expect(read(sql)).rejects.toThrow('the phase migrate has one statement');
});

test.each([
  ['an index', INDEX, { kind: 'index', index: 'public.profiles_mood' }],
  ['batches', BACKFILL, { kind: 'batches' }],
  ['the removal of an index', '-- phase: migrate\ndrop index concurrently if exists public.a;', { kind: 'once' }],
  ['a check of old rows', '-- phase: migrate\nalter table public.a\n  validate constraint b;', { kind: 'once' }],
])('a file of the phase migrate can have %s', async (_what, sql, step) => {
  expect(await read(sql)).toMatchObject([{ phase: 'migrate', step }]);
});

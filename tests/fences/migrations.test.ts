/**
 * Two branches can each add a migration with the same number: after both are merged, `readMigrations` throws. And a new
 * migration must be safe on a large database that older servers serve meanwhile (docs/operations/upgrades.md).
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { areGeneratedFilesCurrent } from '../../database/row-types.ts';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { findProblems } from './migration-rules.ts';

const migrations = await readMigrations();
/** A baseline runs on empty tables alone. */
const ruled = migrations.filter(({ replaces }) => replaces === null);

test('numbers the migrations of each set without a gap or a twin', () => {
  expect(migrations).not.toHaveLength(0);
});

test('every migration names its phase in its first line', () => {
  const nameless = migrations.filter(({ sql }) => !/^-- phase: (expand|migrate|contract)\n/.test(sql));
  expect(nameless.map(({ set, number, name }) => `${set}/${number} ${name}`)).toEqual([]);
});

test('schema.sql and database-rows.ts are those of the migrations (otherwise run `npm run schema`)', async () => {
  const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const [schema, rows] = [await read('database/schema.sql'), await read('src/domain/database-rows.ts')];
  const isCurrent = (sql: string, types: string): boolean => areGeneratedFilesCurrent(migrations, sql, types);
  expect(isCurrent(schema, rows)).toBe(true);
  expect(isCurrent(`${schema}\n`, rows)).toBe(false);
  expect(isCurrent(schema, rows.replace('hustle_score', 'score'))).toBe(false);
  const changed = [...migrations.slice(1), { ...migrations[0]!, checksum: 'x' }];
  expect(areGeneratedFilesCurrent(changed, schema, rows)).toBe(false);
});

test('no new migration blocks requests or breaks older servers', () => {
  expect(
    ruled.flatMap(({ set, number, phase, sql }) =>
      findProblems(phase, sql).map((problem) => `${set}/${number} ${problem}`),
    ),
  ).toEqual([]);
});

describe('the rules', () => {
  test.each([
    'create index on public.entries (date)',
    'create unique index entries_day on public.entries (user_id, date)',
    'create index concurrently if not exists a on public.entries (date)',
    'alter table public.entries alter column content type varchar',
    'alter table public.entries alter hustle_score set data type bigint',
    'alter table public.entries alter column ai_feedback set not null',
    'alter table public.entries add constraint c check (revision > 0)',
    'alter table public.entries add check (revision > 0)',
    'alter table public.entries add constraint c foreign key (user_id) references auth.users',
    'alter table public.entries add constraint c unique (id)',
    'alter table public.entries add column mood uuid references public.moods',
    'alter table public.entries add column mood uuid default gen_random_uuid()',
    'alter table public.entries add column mood bigint generated always as identity',
    'alter table public.entries add column mood bigserial',
    'alter table public.entries validate constraint c',
    'alter table auth.sessions set logged',
    "update public.entries set content = ''",
    'delete from public.entries',
    'with old as (select 1) delete from public.entries',
    'insert into public.moods select user_id from public.entries',
    'lock table public.entries',
    'do $$ begin update public.entries set revision = 1; end $$',
  ])('rejects in every phase: %s', (sql) => {
    expect(findProblems('expand', `-- phase: expand\n${sql};`)).toHaveLength(1);
    expect(findProblems('contract', `-- phase: contract\n-- A comment.\n${sql};`)).toHaveLength(1);
  });

  test.each([
    'drop table public.coach_reader',
    'alter table public.entries drop column hustle_score',
    'alter table public.entries drop constraint entries_content_size',
    'alter table public.entries rename column date to day',
    'drop policy own on public.entries',
    'revoke select on public.entries from authenticated',
    'alter table public.entries add column mood text not null',
  ])('rejects before the phase contract: %s', (sql) => {
    expect(findProblems('expand', `${sql};`)).toHaveLength(1);
  });

  test.each(['drop table public.coach_reader', 'alter table public.entries rename column date to day'])(
    'accepts in the phase contract: %s',
    (sql) => expect(findProblems('contract', `${sql};`)).toEqual([]),
  );

  test.each([
    'alter table public.entries add column mood text',
    "alter table public.entries add column mood text not null default 'fine'",
    'alter table public.entries add column seen_at timestamptz not null default now()',
    'alter table public.entries add constraint c check (revision > 0) not valid',
    'alter table public.entries set (fillfactor = 90)',
    'create table public.moods (id uuid primary key references auth.users); create index on public.moods (id);' +
      ' insert into public.moods select id from auth.users; revoke all on public.moods from anon',
    'drop trigger t on public.entries; create trigger t before update on public.entries execute function public.f()',
    'alter table public.payments drop constraint s; alter table public.payments add constraint s check (a) not valid',
    "create function public.f() returns trigger language plpgsql as $$ begin update x set y = ''; end $$",
    'create function public.f() returns void language sql begin atomic delete from public.entries; end',
    "insert into public.moods (name) values ('drop table')",
    '-- safe: one row for each server\nupdate public.coach_reader set name = null',
  ])('accepts: %s', (sql) => {
    expect(findProblems('expand', `-- phase: expand\n${sql};`)).toEqual([]);
  });
});

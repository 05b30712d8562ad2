import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, day } from '#domain/day/day.ts';
import { withDateHeader } from '#domain/log/entry-html.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import { withDateHeaderSql } from './to-sql.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db.drop();
});

/** A view has no key. Each of these has at most one row for a row of its table. */
const TABLE_OF_VIEW = new Map([
  ['entry_dates', 'entries'],
  ['deleted_days', 'entries'],
  ['kept_reviews', 'reviews'],
]);

test.each([...EXPOSED_TABLES.values()])('$name matches the columns and key of the database', async (table) => {
  const { rows } = await db.admin.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = ('public.' || $1)::regclass and attnum > 0 and not attisdropped
        and has_column_privilege('authenticated', attrelid, attnum, 'select')`,
    [table.name],
  );
  const written = new Map(
    rows.map(({ name, type }) => [name, type.replace('timestamp with time zone', 'timestamptz')]),
  );
  expect(new Map([...table.columns.values()].map(({ name, type }) => [name, type]))).toEqual(written);
  const key = await db.admin.query<{ name: string }>(
    `select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
      where indrelid = ('public.' || $1)::regclass and indisprimary order by array_position(indkey::int2[], attnum)`,
    [TABLE_OF_VIEW.get(table.name) ?? table.name],
  );
  expect(table.key.map(({ name }) => name)).toEqual(key.rows.map(({ name }) => name));
});

test.each([...EXPOSED_TABLES.values()])(
  '$name has the defaults of the columns that a user may write',
  async (table) => {
    const { rows } = await db.admin.query<{ name: string; value: string }>(
      `select attname as name, pg_get_expr(adbin, adrelid) as value from pg_attrdef
       join pg_attribute on attrelid = adrelid and attnum = adnum
      where adrelid = ('public.' || $1)::regclass
        and has_column_privilege('authenticated', attrelid, attnum, 'insert')`,
      [table.name],
    );
    const listed = [...table.columns.values()].filter(({ defaultSql }) => defaultSql !== null);
    expect(new Map(listed.map(({ name, defaultSql }) => [name, defaultSql]))).toEqual(
      new Map(rows.map(({ name, value }) => [name, value])),
    );
  },
);

test('withDateHeaderSql writes the same date header as the domain', async () => {
  const days = Array.from({ length: 900 }, (_, index) => addDays(day('2023-12-30'), index * 3));
  days.push(day('0001-01-01'), day('0999-12-31'), day('9999-12-31'));
  const { rows } = await db.admin.query<{ date: string; content: string }>(
    `select date, ${withDateHeaderSql('date', `'x'`)} as content from unnest($1::date[]) as date`,
    [days],
  );
  expect(rows.map(({ content }) => content)).toEqual(days.map((date) => withDateHeader(date, 'x')));
});

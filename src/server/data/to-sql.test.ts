import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { queryText, unicodeText } from '../../../tests/support/unicode-text.ts';
import { DataError } from './errors.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import { parsePreferences } from './parse-headers.ts';
import { parseQuery } from './parse-query.ts';
import { parseChanges, parseInsertRows } from './parse-rows.ts';
import { deleteSql, insertSql, selectSql, updateSql, type Sql } from './to-sql.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const select = (search: string, total = false) =>
  selectSql(entries, parseQuery(entries, search), { body: true, total });

describe('select', () => {
  test('reads one day', () => {
    expect(select('select=content,revision&date=eq.2026-11-21')).toEqual({
      text:
        `select coalesce(json_agg(page), '[]')::text as body, count(*)::int as amount ` +
        `from (select "content", "revision" from public."entries" where "date" = $1) page`,
      values: ['2026-11-21'],
    });
  });
  test('reads a page with filters, order and total', () => {
    const search =
      'select=id&or=(date.gt.a,not.and(id.in.(b,"c\\"),revision.is.null))&order=date.desc&limit=2&offset=4';
    expect(select(search.replace('"c\\"', '"c\\\\"'), true)).toEqual({
      text:
        `select coalesce(json_agg(page), '[]')::text as body, count(*)::int as amount, ` +
        `(select count(*) from public."entries" where ("date" > $1 or not (("id" = any ($2) and "revision" is null))))::int as total ` +
        `from (select "id" from public."entries" where ("date" > $1 or not (("id" = any ($2) and "revision" is null))) ` +
        `order by "date" desc limit $3 offset $4) page`,
      values: ['a', '{"b","c\\\\"}', 2, 4],
    });
  });
  test('adds up the texts of a page without another scan', () => {
    const query = parseQuery(entries, 'select=date,content&order=date');
    const limitedTexts = [entries.columns.get('content')!];
    const json = '(json_agg(page.item) filter (where page.bytes <= 16777216))::text';
    expect(selectSql(entries, query, { body: true, total: false, limitedTexts }).text).toBe(
      `select case when octet_length(${json}) <= 33554432 then ${json} else '[]' end as body, ` +
        `coalesce(max(page.bytes) > 16777216 or octet_length(${json}) > 33554432, false) as "isTooLong", ` +
        `count(*)::int as amount from (select page as item, sum(coalesce(octet_length(page."content"), 0)) over (rows unbounded preceding) as bytes ` +
        `from (select "date", "content" from public."entries" order by "date") page) page`,
    );
  });
  test('uses the same text for any number of list values', () => {
    expect(select('id=in.(a)').text).toBe(select('id=in.(a,b,c)').text);
  });
});

test('an update of one row returns its JSON without an aggregate', () => {
  const query = parseQuery(entries, 'select=revision&date=eq.2026-11-21');
  const changes = { columns: [entries.columns.get('updated_at')!], rows: [['now']] };
  const preferences = { ...parsePreferences('return=representation'), resolution: null };
  expect(updateSql(entries, query, changes, preferences, { isOneRow: true })).toEqual({
    text:
      `update public."entries" set "updated_at" = $1::timestamptz where "date" = $2 ` +
      `returning json_build_object('revision', "revision")::text as item`,
    values: ['now', '2026-11-21'],
    returnsItems: true,
  });
  const ordered = parseQuery(entries, 'select=revision&date=eq.2026-11-21&limit=1&order=date');
  expect(updateSql(entries, ordered, changes, preferences, { isOneRow: true }).returnsItems).toBeUndefined();
});

const MARK = 'ZQX';
const markedText = unicodeText({ maxLength: 8 }).map((text) => `${MARK}${text}`);
const columnName = fc.constantFrom(...entries.columns.keys());
const operator = fc.constantFrom(
  'eq',
  'neq',
  'gt',
  'like',
  'ilike',
  'isdistinct',
  'not.eq',
  'in',
  'like(any)',
  'is',
  'bogus',
);
const item = fc.oneof(
  markedText,
  markedText.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`),
);
const filterText = fc.tuple(operator, item).map(([name, text]) => {
  if (name === 'in') return `in.(${text},${text})`;
  return name === 'like(any)' ? `${name}.{${text}}` : `${name}.${text}`;
});
const groupText = fc
  .array(fc.tuple(fc.oneof({ weight: 5, arbitrary: columnName }, { weight: 1, arbitrary: markedText }), filterText), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => `(${parts.map(([name, text]) => `${name}.${text}`).join(',')})`);
const parameter = fc.oneof(
  fc.tuple(fc.oneof({ weight: 6, arbitrary: columnName }, { weight: 1, arbitrary: markedText }), filterText),
  fc.tuple(fc.constantFrom('or', 'and', 'not.or'), groupText),
  fc.tuple(fc.constant('select'), fc.oneof(columnName, markedText)),
  fc.tuple(
    fc.constant('order'),
    fc.oneof(
      columnName,
      markedText,
      markedText.map((text) => `date.desc,${text}`),
    ),
  ),
  fc.tuple(fc.constantFrom('limit', 'offset'), fc.oneof(fc.nat().map(String), markedText)),
  fc.tuple(fc.constantFrom('on_conflict', 'columns'), fc.oneof(columnName, markedText)),
);

/** Returns the statement, or null for a request that was rejected with a DataError. */
function buildOrNull(act: () => Sql): Sql | null {
  try {
    return act();
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    expect((error as DataError).status).toBeLessThan(500);
    return null;
  }
}

describe('text of a request reaches SQL only as a parameter', () => {
  const preferences = fc.constantFrom(
    'return=representation, resolution=merge-duplicates',
    'resolution=ignore-duplicates',
    'return=headers-only, resolution=merge-duplicates, missing=default',
    'return=representation',
    '',
  );
  test('for random queries, rows and preferences', () => {
    let made = 0;
    fc.assert(
      fc.property(fc.array(parameter, { maxLength: 4 }), preferences, markedText, (parameters, prefer, value) => {
        const search = new URLSearchParams(parameters).toString();
        const wanted = parsePreferences(prefer);
        const columns = wanted.missingIsDefault ? [...entries.columns.values()] : null;
        const ways = [
          () => selectSql(entries, parseQuery(entries, search), { body: true, total: true }),
          () =>
            insertSql(
              entries,
              parseQuery(entries, search),
              parseInsertRows(entries, { date: value, content: value }, columns, wanted.missingIsDefault),
              wanted,
              '00000000-0000-4000-8000-000000000001',
            ),
          () =>
            updateSql(
              entries,
              parseQuery(entries, search),
              parseChanges(entries, { content: value }, columns, wanted.missingIsDefault),
              wanted,
              { isOneRow: true },
            ),
          () => deleteSql(entries, parseQuery(entries, search), wanted),
        ];
        for (const way of ways) {
          const sql = buildOrNull(way);
          if (!sql) continue;
          made += 1;
          expect(sql.text).not.toContain(MARK);
          // Only the builder's own text: names, operators, placeholders and the header's constants.
          expect(sql.text).toMatch(/^[\w\s"$.,()=<>|*:';^[\]/-]+$/);
          const highest = Math.max(0, ...[...sql.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
          expect(sql.values).toHaveLength(highest);
        }
      }),
      { numRuns: fuzzBudget(3_000) },
    );
    expect(made).toBeGreaterThan(1_000);
  });

  test('random query strings are parsed or rejected', () => {
    fc.assert(
      fc.property(fc.oneof(unicodeText(), queryText()), (search) => {
        buildOrNull(() => selectSql(entries, parseQuery(entries, search), { body: true, total: false }));
      }),
      { numRuns: fuzzBudget(3_000) },
    );
  });
});

import { expect, test } from 'vitest';
import { checkDates, sanitizeRows, sanitizeLog } from './sanitize-log.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import { parseQuery } from './parse-query.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const check = (search: Record<string, string>) => () =>
  checkDates(parseQuery(entries, new URLSearchParams(search).toString()).where);
const write = (date: string | number | boolean | null) =>
  sanitizeRows(entries, { columns: [entries.columns.get('date')!], rows: [[date]] }, sanitizeLog);
const INVALID_DATE = expect.objectContaining({ status: 400, code: '22007' });

test.each([
  '',
  'yesterday',
  'now',
  'infinity',
  '20260101',
  '2026-1-1',
  '2026-01-01 ',
  '2026-01-01T00:00',
  '01/02/2026',
  '2026-01-01\n',
  'January 8, 1999',
  '2026-01-01 BC',
  '٢٠٢٦-٠١-٠١',
  '12026-01-01',
])('rejects %j as a date in filters, lists, groups and rows', async (spelling) => {
  const quoted = `"${spelling}"`;
  for (const filter of [`eq.${spelling}`, `not.lt.${spelling}`, `in.(2026-01-01,${quoted})`, `eq(any).{${quoted}}`]) {
    expect(check({ date: filter })).toThrow(INVALID_DATE);
  }
  expect(check({ or: `(revision.eq.1,not.and(id.is.null,date.eq.${quoted}))` })).toThrow(INVALID_DATE);
  await expect(write(spelling)).rejects.toEqual(INVALID_DATE);
});

test.each([20_260_101, true])('rejects %j as a date in rows', async (value) => {
  await expect(write(value)).rejects.toEqual(INVALID_DATE);
});

test('accepts ISO dates, and any value in other columns', async () => {
  expect(check({ date: 'eq.2026-02-30', or: '(date.in.(2026-01-01),date.is.null)', content: 'eq.now' })).not.toThrow();
  expect(check({ date: 'like.2026*' })).not.toThrow();
  expect((await write('2026-01-01')).rows).toEqual([['2026-01-01']]);
  expect((await write(null)).rows).toEqual([[null]]);
});

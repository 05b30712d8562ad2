import { expect, test } from 'vitest';
import { sanitizeLog } from './sanitize-log.ts';
import { sanitizeRows } from './sanitize-rows.ts';
import { EXPOSED_TABLES } from '../exposed-tables.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const columns = [entries.columns.get('date')!, entries.columns.get('content')!];

/** What happens in which order: `.` for a log that is cleaned, `|` for a yield. */
async function cleaning(logs: readonly (string | null)[]): Promise<string> {
  let order = '';
  await sanitizeRows(
    entries,
    { columns, rows: logs.map((log) => ['2026-01-01', log]) },
    (log) => ((order += '.'), log),
    async () => void (order += '|'),
  );
  return order;
}

test('many tiny logs yield to other requests as often as a few large ones', async () => {
  const parts = (await cleaning(Array<string>(1_000).fill('<b>'))).split('|');
  expect(parts.length).toBeGreaterThan(3);
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(300);
});

test('a large log is cleaned by itself, and the last one is followed by no yield', async () => {
  const large = 'x'.repeat(100_000);
  expect(await cleaning([large, large, 'x'])).toBe('.|.|.');
  expect(await cleaning([large])).toBe('.');
  expect(await cleaning(['x', 'x', null])).toBe('..');
});

test('rows without a log count too', async () => {
  let yields = 0;
  const profiles = EXPOSED_TABLES.get('profiles')!;
  const rows = { columns: [profiles.columns.get('country')!], rows: Array.from({ length: 1_000 }, () => ['PT']) };
  await sanitizeRows(profiles, rows, sanitizeLog, async () => void (yields += 1));
  expect(yields).toBeGreaterThan(2);
});

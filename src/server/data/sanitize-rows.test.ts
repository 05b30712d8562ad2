import { expect, test } from 'vitest';
import { sanitizeLog, sanitizeRows } from './sanitize-log.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const columns = [entries.columns.get('date')!, entries.columns.get('content')!];

/** Records the order of events: `.` for a sanitized log, `|` for a yield. */
async function sanitizeOrder(logs: readonly (string | null)[]): Promise<string> {
  let order = '';
  await sanitizeRows(
    entries,
    { columns, rows: logs.map((log) => ['2026-01-01', log]) },
    (log) => ((order += '.'), log),
    async () => void (order += '|'),
  );
  return order;
}

test('yields to other requests also between many tiny logs', async () => {
  const parts = (await sanitizeOrder(Array<string>(1_000).fill('<b>'))).split('|');
  expect(parts.length).toBeGreaterThan(3);
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(300);
});

test('yields between large logs, but not after the last one', async () => {
  const large = 'x'.repeat(100_000);
  expect(await sanitizeOrder([large, large, 'x'])).toBe('.|.|.');
  expect(await sanitizeOrder([large])).toBe('.');
  expect(await sanitizeOrder(['x', 'x', null])).toBe('..');
});

test('yields between rows without a log', async () => {
  let yields = 0;
  const profiles = EXPOSED_TABLES.get('profiles')!;
  const rows = { columns: [profiles.columns.get('country')!], rows: Array.from({ length: 1_000 }, () => ['PT']) };
  await sanitizeRows(profiles, rows, sanitizeLog, async () => void (yields += 1));
  expect(yields).toBeGreaterThan(2);
});

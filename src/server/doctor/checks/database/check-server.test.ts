/** The findings about servers that the tests do not have. database-checks.test.ts runs the statement. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { checkServer } from './check-server.ts';

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
  const [finding] = await checkServer({ query } as unknown as pg.Client, 'PostgreSQL');
  expect(finding).toMatchObject({ status, text: expect.stringMatching(text) as string });
  if (fix) expect(finding).toMatchObject({ fix: expect.stringMatching(fix) as string });
});

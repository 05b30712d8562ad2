import { afterAll, beforeAll, expect, test } from 'vitest';
import { configOf, lines, run, unreachableUrl } from '../../../../../tests/support/commands/doctor-checks.ts';
import { startStubPooler } from '../../../../../tests/support/servers/stub-pooler.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { poolerCheck } from './pooler-check.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function diagnose(poolUrl: string | null): Promise<string[]> {
  const config = configOf({ DATABASE_URL: db.url, ...(poolUrl !== null && { DATABASE_POOL_URL: poolUrl }) });
  return lines(await run(poolerCheck({ url: db.url, problem: null }, config)));
}

async function diagnoseStub(mode: 'session' | 'transaction' | 'statement'): Promise<string[]> {
  const pooler = await startStubPooler({ serverUrl: db.url, mode });
  try {
    return await diagnose(pooler.url);
  } finally {
    await pooler.stop();
  }
}

test('names what a pooler does to requests, as a start of the server does', async () => {
  expect(await diagnose(null)).toEqual(['off requests reach the database without a pooler']);
  expect(await diagnoseStub('session')).toEqual(['ok the pooler keeps requests apart and takes named statements']);
  expect(await diagnoseStub('transaction')).toEqual([
    expect.stringMatching(/^warning the pooler .* mixes prepared statements: .*max_prepared_statements = 200$/),
  ]);
  expect(await diagnoseStub('statement')).toEqual([
    'fault the pooler of DATABASE_POOL_URL allows no transactions: set pool_mode = transaction',
  ]);
  const { port } = new URL(await unreachableUrl());
  expect(await diagnose(`postgres://127.0.0.1:${port}/journal`)).toEqual([
    expect.stringMatching(/^fault DATABASE_POOL_URL cannot be reached: .*ECONNREFUSED.*\. Check its host and port/),
  ]);
});

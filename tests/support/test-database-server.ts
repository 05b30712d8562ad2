/** Vitest `globalSetup`: one PostgreSQL per test run with a migrated template database that each test file copies. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';
import { partitionTables } from './partition-tables.ts';
import { PARTITIONS } from './partitions.ts';

/** Environment variable with the owner's connection string to the template. */
export const TEMPLATE_URL_VARIABLE = 'TEST_DATABASE_TEMPLATE_URL';

/** Test data needs no durability. */
const FAST_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

/** Returns a function that stops the server. A second test project of the same run reuses the first one's server. */
export default async function startTestDatabaseServer(): Promise<() => Promise<void>> {
  if (process.env[TEMPLATE_URL_VARIABLE]) return () => Promise.resolve();
  const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-tests-'));
  const log = createLog('error');
  const server = await openEmbeddedServer({ dataDir, log, settings: FAST_SETTINGS });
  await migrate(server.url, log);
  if (PARTITIONS > 0) await partitionTables(server.url, PARTITIONS);
  process.env[TEMPLATE_URL_VARIABLE] = server.url;
  return async () => {
    delete process.env[TEMPLATE_URL_VARIABLE];
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  };
}

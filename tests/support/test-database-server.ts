/** One PostgreSQL for a whole run of tests, with a migrated database that each test file copies (Vitest `globalSetup`). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';

/** Where the workers find the server: the owner's connection string to the template. */
export const TEMPLATE_URL_VARIABLE = 'TEST_DATABASE_TEMPLATE_URL';

/** Nothing here has to survive a power cut. */
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

/** Answers how to stop it. A second group of tests in the same run uses the server of the first. */
export default async function startTestDatabaseServer(): Promise<() => Promise<void>> {
  if (process.env[TEMPLATE_URL_VARIABLE]) return () => Promise.resolve();
  const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-tests-'));
  const log = createLog('error');
  const server = await openEmbeddedServer({ dataDir, log, settings: FAST });
  await migrate(server.url, log);
  process.env[TEMPLATE_URL_VARIABLE] = server.url;
  return async () => {
    delete process.env[TEMPLATE_URL_VARIABLE];
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  };
}

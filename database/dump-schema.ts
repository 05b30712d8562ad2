/**
 * Writes `database/schema.sql`: what all migrations together come to, for reading and for review.
 *
 *   npm run schema            writes the file, from a fresh embedded database
 *
 * Read from the catalogues, because no `pg_dump` comes with the embedded server and those of older systems refuse a
 * newer one. A test compares the file with the migrations, so it is never out of date.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';

import { describeSchema } from './describe-schema.ts';

const SCHEMA_FILE = new URL('schema.sql', import.meta.url);

const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-schema-'));
const log = createLog('error');
const server = await openEmbeddedServer({ dataDir, log });
try {
  await migrate(server.url, log);
  await writeFile(SCHEMA_FILE, await describeSchema(server.url));
} finally {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}

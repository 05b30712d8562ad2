/**
 * `npm run schema`: writes `database/schema.sql`, the result of all migrations, for review. It uses a new embedded
 * database.
 *
 * The schema is read from the system catalogs: the embedded server has no `pg_dump`, and an older installed `pg_dump`
 * rejects a newer server. A test compares the file with the migrations.
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

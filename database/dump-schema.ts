/**
 * `npm run schema`: writes `database/schema.sql`, the result of all migrations, for review, and
 * `src/domain/database-rows.ts`, the types of its rows. It uses a new embedded database.
 *
 * The schema is read from the system catalogs: the embedded server has no `pg_dump`, and an older installed `pg_dump`
 * rejects a newer server. A test compares both files with the migrations.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { createLog } from '#server/log.ts';

import { describeSchema } from './describe-schema.ts';
import { describeRows } from './row-types.ts';

const SCHEMA_FILE = new URL('schema.sql', import.meta.url);
const ROWS_FILE = new URL('../src/domain/database-rows.ts', import.meta.url);

const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-schema-'));
const log = createLog('error');
const server = await openEmbeddedServer({ dataDir, log });
try {
  const migrations = await migrate(server.url, log);
  const schema = await describeSchema(server.url);
  await writeFile(SCHEMA_FILE, schema);
  await writeFile(ROWS_FILE, await describeRows(server.url, migrations, schema));
} finally {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}

import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { describeSchema } from '../../database/describe-schema.ts';
import { describeRows } from '../../database/row-types.ts';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { isPartitioned } from '../support/partition-tables.ts';
import { PROGRAMS_VARIABLE } from '../support/test-database-server.ts';
import { createTestDatabase } from '../support/test-database.ts';

// The files are as the embedded PostgreSQL describes it. An older server prints the same views in other words.
const isOtherServer = Boolean(process.env[PROGRAMS_VARIABLE]);

test.skipIf(isPartitioned || isOtherServer)(
  'database/schema.sql and src/domain/database-rows.ts match the migrations (otherwise run `npm run schema`)',
  async () => {
    const db = await createTestDatabase();
    try {
      const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
      const schema = await read('database/schema.sql');
      expect(schema).toBe(await describeSchema(db.url));
      expect(await read('src/domain/database-rows.ts')).toBe(
        await describeRows(db.url, await readMigrations(), schema),
      );
    } finally {
      await db.drop();
    }
  },
);

import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { describeSchema } from '../../database/describe-schema.ts';
import { isPartitioned } from '../support/partition-tables.ts';
import { PROGRAMS_VARIABLE } from '../support/test-database-server.ts';
import { createTestDatabase } from '../support/test-database.ts';

// The file is as the embedded PostgreSQL describes it. An older server prints the same views in other words.
const isOtherServer = Boolean(process.env[PROGRAMS_VARIABLE]);

test.skipIf(isPartitioned || isOtherServer)(
  'database/schema.sql matches the migrations (otherwise run `npm run schema`)',
  async () => {
    const db = await createTestDatabase();
    try {
      const committed = await readFile(new URL('../../database/schema.sql', import.meta.url), 'utf8');
      expect(committed).toBe(await describeSchema(db.url));
    } finally {
      await db.drop();
    }
  },
);

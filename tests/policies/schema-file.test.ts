import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { describeSchema } from '../../database/describe-schema.ts';
import { isPartitioned } from '../support/partitions.ts';
import { createTestDatabase } from '../support/test-database.ts';

test.skipIf(isPartitioned)('database/schema.sql matches the migrations (otherwise run `npm run schema`)', async () => {
  const db = await createTestDatabase();
  try {
    const committed = await readFile(new URL('../../database/schema.sql', import.meta.url), 'utf8');
    expect(committed).toBe(await describeSchema(db.url));
  } finally {
    await db.drop();
  }
});

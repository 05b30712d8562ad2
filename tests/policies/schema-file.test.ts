/** `database/schema.sql` says what the migrations come to: a change of one without the other is caught here. */
import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { describeSchema } from '../../database/describe-schema.ts';
import { createTestDatabase } from '../support/test-database.ts';

test('the committed schema is that of the migrations (else run `npm run schema`)', async () => {
  const db = await createTestDatabase();
  try {
    const committed = await readFile(new URL('../../database/schema.sql', import.meta.url), 'utf8');
    expect(committed).toBe(await describeSchema(db.url));
  } finally {
    await db.drop();
  }
});

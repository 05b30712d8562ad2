/** Two changes that were made side by side can each bring a migration of the same number; neither starts with the other. */
import { expect, test } from 'vitest';
import { readMigrations } from '#server/database/migrations/migration-files.ts';

test('numbers the migrations of each set 1, 2, 3 without a gap or a twin', async () => {
  await expect(readMigrations()).resolves.not.toHaveLength(0);
});

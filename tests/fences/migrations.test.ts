/** Two branches can each add a migration with the same number. After both are merged, `readMigrations` throws. */
import { expect, test } from 'vitest';
import { readMigrations } from '#server/database/migrations/migration-files.ts';

test('numbers the migrations of each set 1, 2, 3 without a gap or a twin', async () => {
  await expect(readMigrations()).resolves.not.toHaveLength(0);
});

/** The tests of the folder `deploy` that need programs of their own: `npm run check:deploy`. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['tests/deploy/**/*.test.ts'],
    globalSetup: ['tests/support/test-database-server.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

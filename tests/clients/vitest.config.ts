/** The tests with clients of other languages: `npm run test:clients`. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['tests/clients/**/*.test.ts'],
    globalSetup: ['tests/support/test-database-server.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

/** The tests that run in engines other than Chromium: `npm run test:browsers`. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['tests/browsers/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 90_000,
    // Starts the product and a browser.
    hookTimeout: 120_000,
  },
});

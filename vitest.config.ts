/**
 * Three groups of tests. `unit` needs nothing but Node. `server` uses a real PostgreSQL: one per run, with a migrated
 * template that every test file copies. `faults` uses the same PostgreSQL, kills processes that its tests started and
 * cuts connections.
 */
import { defineConfig } from 'vitest/config';
import { fuzzBudget } from './tests/support/fuzz-budget.ts';

const needsDatabase = [
  'src/server/{auth,data,functions,database,jobs,payments,plans}/**/*.test.ts',
  'src/server/admin.test.ts',
];
const database = {
  globalSetup: ['tests/support/test-database-server.ts'],
  testTimeout: fuzzBudget(30_000),
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    // One worker more than the two cores: it runs while another worker waits for PostgreSQL, processes or timers.
    maxWorkers: 3,
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts', 'tests/{fences,simulators}/**/*.test.ts'],
          exclude: needsDatabase,
          testTimeout: fuzzBudget(15_000),
        },
      },
      {
        test: {
          name: 'server',
          include: [...needsDatabase, 'tests/{api,policies,payments}/**/*.test.ts'],
          ...database,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['tests/faults/**/*.test.ts'],
          ...database,
          testTimeout: 120_000,
        },
      },
    ],
  },
});

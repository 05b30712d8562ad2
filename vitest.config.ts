/**
 * Four groups of tests. `client` tests modules of the pages and gets a global context for each file, because some of
 * these modules keep state. The files of all other groups share the process of their worker, which saves a quarter of the run:
 * modules of the server keep no state, and tests/support/restore-globals.ts takes back what a file replaced. `unit` needs
 * nothing but Node. `server` uses a real PostgreSQL: one per run, with a migrated template that every test file copies. Its
 * tests of faults kill processes that they started and cut connections. `schedules` uses the same PostgreSQL and replaces
 * the globals of its process by those of browser tabs.
 */
import { defineConfig } from 'vitest/config';
import { fuzzBudget } from './tests/support/fuzz-budget.ts';
import { SpreadFaults } from './tests/support/spread-faults.ts';

const needsDatabase = [
  'src/server/{admin,auth,backup,data,doctor,functions,habit,database,jobs,payments,plans}/**/*.test.ts',
  'src/server/{coach/coach-store,find/search-index}.test.ts',
  'src/server/admin.test.ts',
];
/** Tests of minutes, which only the long form runs. */
const longForm = process.env['TEST_LONG'] ? [] : ['**/*.long.test.ts'];
/** Ends a test that hangs. Generous, because a loaded machine is many times slower than a quiet one. */
const HANG_MS = 120_000;
/** How long `expect.poll` tries. A loaded machine needs seconds for what usually takes milliseconds. */
const polls = { expect: { poll: { timeout: 15_000 } } };
const timeouts = { ...polls, testTimeout: fuzzBudget(HANG_MS), hookTimeout: HANG_MS };
const sharedProcess = { ...timeouts, isolate: false, setupFiles: ['tests/support/restore-globals.ts'] };
const database = { ...sharedProcess, globalSetup: ['tests/support/test-database-server.ts'] };

export default defineConfig({
  test: {
    // Five workers more than the two cores: they run while others wait for PostgreSQL, processes or timers. 873 tests of the
    // API took 50 s with five workers, 39 s with seven.
    maxWorkers: 7,
    sequence: { sequencer: SpreadFaults },
    reporters: ['default'],
    projects: [
      { test: { name: 'client', ...timeouts, pool: 'vmThreads', include: ['src/client/**/*.test.{ts,tsx}'] } },
      {
        test: {
          name: 'unit',
          include: [
            'src/{cli,domain,server}/**/*.test.ts',
            'scripts/**/*.test.ts',
            'tests/{cluster,fences,simulators}/**/*.test.ts',
          ],
          exclude: needsDatabase,
          ...sharedProcess,
        },
      },
      {
        test: {
          name: 'server',
          include: [...needsDatabase, 'tests/{api,faults,policies,payments}/**/*.test.ts'],
          exclude: longForm,
          ...database,
        },
      },
      { test: { name: 'schedules', include: ['tests/world/**/*.test.ts'], ...database, isolate: true } },
    ],
  },
});

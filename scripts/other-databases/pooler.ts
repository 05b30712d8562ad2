/**
 * `npm run test:pooler [-- FILE…]`: runs the tests through PgBouncer in transaction mode: first Debian's 1.18, which
 * mixes its clients' prepared statements, then 1.21 or newer, which keeps them apart. PGBOUNCER names the only program
 * to use.
 */
import { exitWithParent } from '../lifecycle/exit-with-parent.mjs';
import { findPgBouncers } from './find-pgbouncers.ts';
import { runServerTests } from './run-tests.ts';

exitWithParent();
const { programs, skipped } = await findPgBouncers();
for (const missing of skipped) process.stdout.write(`Skipping ${missing}\n`);
if (programs.length === 0) {
  process.stderr.write('There is no PgBouncer: install it, or name the program with PGBOUNCER.\n');
  process.exit(1);
}
for (const { name, command } of programs) {
  const isPassed = await runServerTests(name, { TEST_PGBOUNCER: JSON.stringify(command) });
  if (!isPassed) process.exitCode = 1;
}

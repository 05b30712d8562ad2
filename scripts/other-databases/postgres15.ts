/**
 * `npm run test:postgres15 [-- FILE…]`: runs the tests on PostgreSQL 15, the oldest supported server. To use another
 * installation, set POSTGRES_PROGRAMS to the folder of its `initdb` and `postgres`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installWithApt } from '../browser.ts';
import { exitWithParent } from '../lifecycle/exit-with-parent.mjs';
import { runServerTests } from './run-tests.ts';

exitWithParent();
const programs = process.env['POSTGRES_PROGRAMS'] ?? '/usr/lib/postgresql/15/bin';
const hasPrograms = (): boolean => existsSync(join(programs, 'initdb'));
if (!hasPrograms()) await installWithApt(['postgresql-15']);
if (!hasPrograms()) {
  process.stderr.write(`There is no PostgreSQL in ${programs}: install Debian's package postgresql-15.\n`);
  process.exit(1);
}
process.exitCode = (await runServerTests(programs, { TEST_POSTGRES_PROGRAMS: programs })) ? 0 : 1;

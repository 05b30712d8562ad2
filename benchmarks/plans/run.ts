/**
 * Checks the plans of all statements of the product on five million days: once on plain tables and once on tables that
 * are divided into 16 partitions by user. No statement scans a table of users, touches a second partition or spills to
 * disk.
 *
 * `--statements=FOLDER` reads the statements of an earlier test run (`TEST_STATEMENTS_DIR`) instead of running the
 * tests, `--users=N` fills 365 days of N users instead of 14,000.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { partitionTables } from '../../tests/support/partition-tables.ts';
import type { RecordedStatement } from '../../tests/support/statements/record-statements.ts';
import { SYSTEM_SWEEPS, findSweep } from '../../tests/support/statements/system-sweeps.ts';
import { readUserTables } from '../../tests/support/statements/check-statements.ts';
import { printFigures, type Figure } from '../figures.ts';
import { openSeededDatabase } from '../seeded-database.ts';
import { checkPlan, explainText } from './check-plan.ts';
import { DAYS_EACH, fillDatabase, type People } from './large-database.ts';
import { readStatements, recordStatements } from './statements.ts';
import { valuesFor } from './values.ts';

const PARTITIONS = 16;
/** The filled tables need no durability. `work_mem` keeps its default, so that queries spill as on other servers. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '4GB',
  shared_buffers: '512MB',
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const { values: options } = parseArgs({
  options: { statements: { type: 'string' }, users: { type: 'string', default: '14000' } },
});
const users = Number(options.users);
const folder = options.statements;
const statements = folder === undefined ? await recordStatements() : await readStatements(folder);
for (const partitions of [0, PARTITIONS]) {
  const figures = await checkOn(partitions);
  const rows = (users * DAYS_EACH).toLocaleString('en');
  printFigures(`Plans on ${rows} days, ${partitions === 0 ? 'plain tables' : `${partitions} partitions`}`, figures);
  if (figures.some(({ isMet }) => !isMet)) process.exitCode = 1;
}

async function checkOn(partitions: number): Promise<Figure[]> {
  const database = await openSeededDatabase(SETTINGS);
  try {
    if (partitions > 0) await partitionTables(database.url, partitions);
    const people = await fillDatabase(database.url, users);
    return await checkStatements(database.url, people);
  } finally {
    await database.close();
  }
}

async function checkStatements(url: string, people: People): Promise<Figure[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await readUserTables(client);
    const { rows } = await client.query<{ id: string }>(
      'select id from public.entries where user_id = $1 and date = current_date - 100',
      [people.writer],
    );
    const names = new RegExp(`\\b(${[...tables.map(({ name }) => name), 'deleted_days', 'entry_dates'].join('|')})\\b`);
    const problems: string[] = [];
    const refused: string[] = [];
    const slowest: { milliseconds: number; text: string }[] = [];
    let checked = 0;
    for (const statement of statements.filter(({ text }) => names.test(text))) {
      const plan = await explainText(client, statement.text);
      // PostgreSQL refuses to plan this statement: the test that recorded it expects an error.
      if (plan === null) continue;
      const run = (userId: string) =>
        checkPlan(
          client,
          statement,
          valuesFor(statement, plan, { userId, entryId: rows[0]!.id }),
          claimsOf(statement, userId),
          tables,
        );
      let outcome = await run(people.writer);
      // A constraint failed (class 23), because the writer has the row already. The newcomer has none.
      if (outcome.refused?.startsWith('23')) outcome = await run(people.newcomer);
      if (outcome.refused !== null) refused.push(`${outcome.refused} ${statement.role} ${oneLine(statement.text)}`);
      else checked += 1;
      problems.push(...outcome.problems.map((problem) => `${problem}: ${statement.role} ${oneLine(statement.text)}`));
      slowest.push({ milliseconds: outcome.milliseconds, text: oneLine(statement.text) });
    }
    const unused = SYSTEM_SWEEPS.filter(({ table }) => !statements.some(({ text }) => findSweep(table, text)));
    for (const line of problems) process.stdout.write(`  ${line}\n`);
    for (const line of refused) process.stdout.write(`  refused ${line}\n`);
    slowest.sort((a, b) => b.milliseconds - a.milliseconds);
    for (const { milliseconds, text } of slowest.slice(0, 10)) {
      process.stdout.write(`  ${milliseconds.toFixed(1)} ms ${text.slice(0, 160)}\n`);
    }
    return [
      {
        what: `statements that scan a table of users, touch a second partition or spill, of ${checked} that ran`,
        measured: String(problems.length),
        target: 'none',
        isMet: problems.length === 0 && checked > 0,
      },
      {
        what: 'system sweeps that no statement uses',
        measured: String(unused.length),
        target: 'none',
        isMet: unused.length === 0,
      },
    ];
  } finally {
    await client.end();
  }
}

function claimsOf({ role }: RecordedStatement, userId: string): string {
  return JSON.stringify(role === 'authenticated' ? { role, sub: userId } : { role });
}

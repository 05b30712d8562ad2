/**
 * Compares a process whose requests go through PgBouncer with one that is connected directly, on one database,
 * interleaved. Needs PgBouncer, which scripts/other-databases/find-pgbouncers.ts finds.
 */
import { findPgBouncers, type PgBouncerProgram } from '../scripts/other-databases/find-pgbouncers.ts';
import { startPgBouncer } from '../tests/support/servers/pgbouncer.ts';
import { printFigures, type Figure } from './figures.ts';
import { readDay, saveDay, type MakeRequest } from './http/journal-requests.ts';
import { CONNECTIONS, compareRates, describeRates, load } from './http/load.ts';
import { signUpPeople, type Person } from './http/people.ts';
import { startProduct, type Running } from './processes.ts';
import { openSeededDatabase, writeYears } from './seeded-database.ts';

const PEOPLE = 100;
/** The required ratio of pooled to direct reads, for a PgBouncer that supports prepared statements. */
const TARGET = 0.8;

const { programs, skipped } = await findPgBouncers();
for (const missing of skipped) process.stdout.write(`Skipping ${missing}\n`);
const database = await openSeededDatabase();
const start = (settings: Record<string, string>): Promise<Running> =>
  startProduct(database, { LOG_LEVEL: 'error', ...settings });
const direct = await start({});
try {
  const people = await signUpPeople(direct.url, PEOPLE);
  await writeYears(database.url);
  for (const program of programs) await measure(program, people);
} finally {
  await direct.stop();
  await database.close();
}

async function measure({ name, command, hasStatements }: PgBouncerProgram, people: readonly Person[]): Promise<void> {
  const pgBouncer = await startPgBouncer({
    command,
    serverUrl: database.url,
    settings: { default_pool_size: String(CONNECTIONS) },
  });
  const pooled = await start({ DATABASE_POOL_URL: pgBouncer.url });
  try {
    printFigures(`Requests a second through ${name} against a direct connection`, [
      await compare('read one day', pooled, people, readDay, hasStatements ? TARGET : null),
      await compare('save one 2 KB day', pooled, people, saveDay, null),
    ]);
  } finally {
    await pooled.stop();
    await pgBouncer.stop();
  }
}

async function compare(
  what: string,
  pooled: Running,
  people: readonly Person[],
  make: MakeRequest,
  target: number | null,
): Promise<Figure> {
  const measureServer = (url: string) => async (duration: number) =>
    (await load(url, people, make, { duration })).requests.total;
  const rates = await compareRates({ ours: measureServer(pooled.url), theirs: measureServer(direct.url) });
  return {
    what,
    measured: `${rates.ratio.toFixed(2)} (${describeRates(rates)})`,
    target: target === null ? 'none' : `at least ${target}`,
    isMet: target === null || rates.ratio >= target,
  };
}

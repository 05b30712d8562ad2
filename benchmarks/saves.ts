/**
 * Compares what a save costs with an earlier commit: the CPU time of the server and of PostgreSQL per save of a 2 KB
 * day. Both builds run at once, each on a database of its own, and take turns, so that other load affects both equally.
 * CPU time, unlike the rate, does not depend on how busy the machine is.
 *
 * `--against=COMMIT` names the other build, by default the commit before.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printFigures, type Figure } from './figures.ts';
import { saveDay } from './http/journal-requests.ts';
import { CONNECTIONS, load } from './http/load.ts';
import { signUpPeople, type Person } from './http/people.ts';
import * as ourProcesses from './processes.ts';
import * as ourDatabase from './seeded-database.ts';

const ROOT = join(import.meta.dirname, '..');
const PEOPLE = 100;
const ROUNDS = 6;
const SECONDS = 3;
/** The largest share of the earlier CPU time, by number of connections. */
const TARGETS = { 1: 1, [CONNECTIONS]: 0.7 } as const;
const CONNECTION_COUNTS = [1, CONNECTIONS] as const;

type Build = { url: string; server: number; database: number; people: Person[]; stop(): Promise<void> };
/** In CPU seconds. */
type Cost = { server: number; database: number; saves: number };

const { values: options } = parseArgs({ options: { against: { type: 'string', default: 'HEAD~1' } } });
const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
const against = git('rev-parse', '--short', options.against);
const folder = join(await mkdtemp(join(tmpdir(), 'hustle-forge-saves-')), 'earlier');
git('worktree', 'add', '--detach', folder, against);
const builds: Build[] = [];
try {
  for (const shared of ['node_modules', 'dist']) await symlink(join(ROOT, shared), join(folder, shared));
  const [processes, database] = (await Promise.all([
    import(join(folder, 'benchmarks/processes.ts')),
    import(join(folder, 'benchmarks/seeded-database.ts')),
  ])) as [typeof ourProcesses, typeof ourDatabase];
  const ours = await start(ourProcesses, ourDatabase);
  const theirs = await start(processes, database);
  for (const connections of CONNECTION_COUNTS)
    printFigures(`CPU per save of a 2 KB day, ${connections} connections`, await compare(ours, theirs, connections));
} finally {
  for (const build of builds) await build.stop();
  git('worktree', 'remove', '--force', folder);
  await rm(join(folder, '..'), { recursive: true, force: true });
}

/** Starts the build that the modules belong to, with its own migrations and settings. */
async function start(
  { startProduct }: Pick<typeof ourProcesses, 'startProduct'>,
  { openSeededDatabase, writeYears }: typeof ourDatabase,
): Promise<Build> {
  const database = await openSeededDatabase();
  builds.push({ url: '', server: 0, database: 0, people: [], stop: () => database.close() });
  const app = await startProduct(database);
  const build: Build = {
    url: app.url,
    server: app.pid,
    database: database.pid,
    people: [],
    async stop() {
      await app.stop();
      await database.close();
    },
  };
  builds.splice(-1, 1, build);
  build.people = await signUpPeople(app.url, PEOPLE);
  await writeYears(database.url);
  return build;
}

async function compare(ours: Build, theirs: Build, connections: (typeof CONNECTION_COUNTS)[number]): Promise<Figure[]> {
  const costs = new Map<Build, Cost>([ours, theirs].map((build) => [build, { server: 0, database: 0, saves: 0 }]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const build of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      const { server, database, saves } = await measure(build, connections);
      // The first round warms up.
      if (round === 0) continue;
      const cost = costs.get(build)!;
      cost.server += server;
      cost.database += database;
      cost.saves += saves;
    }
  }
  const figure = (what: string, of: (cost: Cost) => number, most: number): Figure => {
    const [now, before] = [ours, theirs].map((build) => (of(costs.get(build)!) / costs.get(build)!.saves) * 1e6);
    return {
      what,
      measured: `${(now! / before!).toFixed(2)} (${now!.toFixed(0)} µs against ${before!.toFixed(0)} µs of ${against})`,
      target: `at most ${most}`,
      isMet: now! / before! <= most,
    };
  };
  return [
    figure('PostgreSQL', ({ database }) => database, TARGETS[connections]),
    figure('server', ({ server }) => server, TARGETS[connections]),
    figure('both', ({ server, database }) => server + database, TARGETS[connections]),
  ];
}

async function measure({ url, server, database, people }: Build, connections: number): Promise<Cost> {
  const cpu = async () => [await ourProcesses.cpuSeconds([server]), await ourProcesses.cpuSeconds([database])] as const;
  const before = await cpu();
  const { requests } = await load(url, people, saveDay, { connections, duration: SECONDS });
  const after = await cpu();
  return { server: after[0] - before[0], database: after[1] - before[1], saves: requests.total };
}

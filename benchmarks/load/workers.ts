/**
 * Compares two workers behind one port with one process on the same database, interleaved, and says which part used how
 * much CPU. The machine's cores are shared with the database and the load generator, so it compares them a second time
 * with a fifth of a core for each process, which leaves room for both.
 */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { connectionsFor } from '#server/database/embedded/supervisor.ts';
import { printFigures, type Figure } from '../figures.ts';
import { readDay, saveDay, type MakeRequest } from '../http/journal-requests.ts';
import { compareRates, describeRates, load } from '../http/load.ts';
import { signUpPeople } from '../http/people.ts';
import { cpuSeconds, residentMegabytes, startProduct, type Running } from '../processes.ts';
import { openSeededDatabase, writeYears } from '../seeded-database.ts';
import { limitCpu } from './cpu-quota.ts';

const PEOPLE = 100;
const TARGET = 1.7;
const SHARE_OF_CORE = 0.2;
/**
 * A process that has used its quota stalls its requests. More connections keep the other process busy meanwhile. They
 * are opened in steps, like those of browsers: one worker accepts most of those that are opened at once (decision
 * 0037).
 */
const STEPS_WITH_LIMIT = 16;
const CONNECTIONS_OF_STEP = 4;
const STEP_MS = 50;

type Cpu = Record<'server' | 'database' | 'generator', number>;

const database = await openSeededDatabase({ max_connections: connectionsFor(3) });
const one = await startProduct(database);
const two = await startProduct(database, { WEB_CONCURRENCY: '2' });
try {
  await waitForSecondWorker(two);
  const atRest = await describeMemory();
  const people = await signUpPeople(one.url, PEOPLE);
  await writeYears(database.url);
  printFigures('Two workers against one process', [
    await compare('read one day', readDay),
    await compare('save one 2 KB day', saveDay),
  ]);
  const liftLimits = await limitCpu([one.pid, ...(await workersOf(two))], SHARE_OF_CORE).catch((error: unknown) => {
    process.stdout.write(`  Not measured with cores to spare: ${String(error)}\n`);
    return null;
  });
  if (liftLimits) {
    printFigures(`Two workers against one process, each with ${SHARE_OF_CORE} of a core`, [
      await compare('read one day', readDay, { steps: STEPS_WITH_LIMIT, least: TARGET }),
      await compare('save one 2 KB day', saveDay, { steps: STEPS_WITH_LIMIT, least: TARGET }),
    ]);
    await liftLimits();
  }
  process.stdout.write(`  memory at rest: ${atRest}\n  memory after the load: ${await describeMemory()}\n`);

  /** Each step has users of its own, so that no row is written concurrently. */
  async function loadInSteps(server: Running, make: MakeRequest, duration: number, steps: number): Promise<number> {
    const ofStep = Math.floor(people.length / steps);
    const totals = await Promise.all(
      Array.from({ length: steps }, async (_, step) => {
        await delay(step * STEP_MS);
        const users = people.slice(step * ofStep, (step + 1) * ofStep);
        const { requests } = await load(server.url, users, make, { duration, connections: CONNECTIONS_OF_STEP });
        return requests.total;
      }),
    );
    return totals.reduce((sum, total) => sum + total, 0);
  }

  async function compare(
    what: string,
    make: MakeRequest,
    { steps = 0, least = null }: { steps?: number; least?: number | null } = {},
  ): Promise<Figure> {
    const used = { ours: noCpu(), theirs: noCpu() };
    const seconds = { ours: 0, theirs: 0 };
    const answered = { ours: 0, theirs: 0 };
    const measureServer = (of: 'ours' | 'theirs', server: Running) => async (duration: number) => {
      const before = await readCpu(server);
      const total = await (steps > 0
        ? loadInSteps(server, make, duration, steps)
        : load(server.url, people, make, { duration }).then(({ requests }) => requests.total));
      const after = await readCpu(server);
      for (const part of Object.keys(before) as (keyof Cpu)[]) used[of][part] += after[part] - before[part];
      seconds[of] += duration;
      answered[of] += total;
      return total;
    };
    const rates = await compareRates({ ours: measureServer('ours', two), theirs: measureServer('theirs', one) });
    const cores = (of: 'ours' | 'theirs'): string =>
      Object.entries(used[of])
        .map(([part, ofPart]) => `${part} ${(ofPart / seconds[of]).toFixed(2)}`)
        .join(', ');
    const serverMs = (of: 'ours' | 'theirs'): string => ((used[of].server * 1_000) / answered[of]).toFixed(2);
    return {
      what,
      measured:
        `${rates.ratio.toFixed(2)} (${describeRates(rates)}); of ${cpus().length} cores two workers used ${cores('ours')}, ` +
        `one process ${cores('theirs')}; CPU of the server per request ${serverMs('ours')} ms against ${serverMs('theirs')} ms`,
      target: least === null ? 'none' : `at least ${least}`,
      isMet: least === null || rates.ratio >= least,
    };
  }
} finally {
  await Promise.all([one.stop(), two.stop()]);
  await database.close();
}

/** The port answers as soon as one worker is ready, so this polls until /metrics lists the second. */
async function waitForSecondWorker({ url }: Running): Promise<void> {
  while (!(await (await fetch(`${url}/metrics`)).text()).includes('worker="2"')) await delay(50);
}

function noCpu(): Cpu {
  return { server: 0, database: 0, generator: 0 };
}

async function readCpu(server: Running): Promise<Cpu> {
  const { user, system } = process.cpuUsage();
  return {
    server: await cpuSeconds([server.pid]),
    database: await cpuSeconds([database.pid]),
    generator: (user + system) / 1e6,
  };
}

async function workersOf({ pid }: Running): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return children.trim().split(' ').map(Number);
}

async function describeMemory(): Promise<string> {
  const megabytes = await Promise.all([one.pid, two.pid, ...(await workersOf(two))].map(residentMegabytes));
  const [single, supervisor, ...each] = megabytes.map((value) => (value === null ? '?' : value.toFixed(0)));
  return `one process ${single} MB; supervisor ${supervisor} MB, workers ${each.join(' and ')} MB`;
}

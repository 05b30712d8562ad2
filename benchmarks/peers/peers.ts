/**
 * Compares the product with servers of other projects: on one machine, in one run, interleaved. `--only=NAME` measures
 * one peer.
 *
 * PocketBase is one Go process, which uses every core, with a SQLite file. Against it, the product runs with two
 * workers on the embedded PostgreSQL with fsync. The other peers have a database on the same PostgreSQL as the product.
 */
import { parseArgs } from 'node:util';
import { printFigures, type Figure } from '../figures.ts';
import { listDates, readDay, saveDay, type MakeRequest } from '../http/journal-requests.ts';
import { compareRates, describeRates, load } from '../http/load.ts';
import { signUpPeople, type Person } from '../http/people.ts';
import { cpuSeconds, startProduct } from '../processes.ts';
import { DAYS_EACH, openSeededDatabase, writeYears, type SeededDatabase } from '../seeded-database.ts';
import { startBetterAuth } from './better-auth.ts';
import { startDirectus } from './directus.ts';
import { startParseServer } from './parse-server.ts';
import { runSql, type Peer } from './peer.ts';
import { startPocketbase, type Synchronous } from './pocketbase.ts';

const PEOPLE = 100;
const POCKETBASE_WORKERS = 2;
/** The least ratio of the rates of saves, with PocketBase's default durability and with the product's. */
const POCKETBASE_SAVES: Readonly<Record<Synchronous, number>> = { NORMAL: 1.2, FULL: 1.4 };

/** Peers on the same PostgreSQL. `least`: the required ratio of the product's request rate to the peer's; null: none. */
const DATABASE_PEERS: readonly DatabasePeer[] = [
  { name: 'parse-server', start: startParseServer, least: { read: 4, save: 2, list: null } },
  { name: 'better-auth', start: startBetterAuth, least: { read: 5, save: 3, list: 3 } },
  { name: 'directus', start: startDirectus, least: { read: 12, save: 12, list: 9 } },
];

type DatabasePeer = {
  name: string;
  start: (databaseUrl: string, people: number) => Promise<Peer>;
  least: { read: number; save: number; list: number | null };
};
type Measured = { figure: Figure; microsecondsOfCpu: { ours: number; theirs: number } };

const { values: options } = parseArgs({ options: { only: { type: 'string' } } });
const isWanted = (name: string): boolean => options.only === undefined || options.only === name;
if (isWanted('pocketbase')) {
  for (const synchronous of ['NORMAL', 'FULL'] as const)
    await withProduct({ WEB_CONCURRENCY: String(POCKETBASE_WORKERS) }, (ours) => comparePocketbase(ours, synchronous));
  await withProduct({}, compareCpuWithPocketbase);
}
for (const peer of DATABASE_PEERS)
  if (isWanted(peer.name)) await withProduct({}, (ours, database) => compareOnDatabase(peer, ours, database));

/** Starts the product on a database of its own, with a year of logs for each user. */
async function withProduct(
  env: Record<string, string>,
  work: (ours: Ours, database: SeededDatabase) => Promise<void>,
): Promise<void> {
  const database = await openSeededDatabase();
  try {
    const { url, pid } = database;
    const app = await startProduct(database, env);
    try {
      const people = await signUpPeople(app.url, PEOPLE);
      await writeYears(url);
      await work({ url: app.url, pids: [app.pid, pid], people }, database);
    } finally {
      await app.stop();
    }
  } finally {
    await database.close();
  }
}

async function comparePocketbase(ours: Ours, synchronous: Synchronous): Promise<void> {
  const peer = await startPocketbase(PEOPLE, synchronous);
  try {
    const least = { read: 1.2, save: POCKETBASE_SAVES[synchronous], list: null };
    const { read, save, list } = await compareAll(ours, peer, least);
    const title = `${peer.name}, the product with ${POCKETBASE_WORKERS} workers`;
    printFigures(title, [cpuOfRead(read), read.figure, save.figure, list.figure]);
  } finally {
    await peer.stop();
  }
}

/** One process needs less CPU per request than two workers, because a turn of its event loop serves more requests. */
async function compareCpuWithPocketbase(ours: Ours): Promise<void> {
  const peer = await startPocketbase(PEOPLE, 'NORMAL');
  try {
    const read = await compare('reads of one day', null, ours, peer, readDay, peer.readDay);
    printFigures(`${peer.name}, the product with one process`, [cpuOfRead(read), read.figure]);
  } finally {
    await peer.stop();
  }
}

function cpuOfRead({ microsecondsOfCpu: { ours, theirs } }: Measured): Figure {
  return {
    what: 'CPU of server and database per read of one day',
    measured: `${(ours / theirs).toFixed(2)} (${ours.toFixed(0)} µs against ${theirs.toFixed(0)} µs)`,
    target: 'at most 0.75',
    isMet: ours / theirs <= 0.75,
  };
}

async function compareOnDatabase({ name, start, least }: DatabasePeer, ours: Ours, seeded: SeededDatabase) {
  // `new URL` rejects this URL: it has no host, because its parameter `host` names a socket's directory.
  const databaseUrl = seeded.url.replace(/@\/[^?]+/, `@/${name}`);
  await runSql(seeded.url, `create database "${name}"`, []);
  const peer = await start(databaseUrl, PEOPLE);
  try {
    const { read, save, list } = await compareAll(ours, peer, least);
    printFigures(`${peer.name} on the same PostgreSQL`, [read.figure, save.figure, list.figure]);
  } finally {
    await peer.stop();
  }
}

async function compareAll(ours: Ours, peer: Peer, least: DatabasePeer['least']) {
  return {
    read: await compare('reads of one day', least.read, ours, peer, readDay, peer.readDay),
    save: await compare('saves of one 2 KB day', least.save, ours, peer, saveDay, peer.saveDay),
    list: await compare(`lists of ${DAYS_EACH} dates`, least.list, ours, peer, listDates, peer.listDates),
  };
}

type Ours = { url: string; pids: readonly number[]; people: readonly Person[] };

async function compare(
  what: string,
  least: number | null,
  ours: Ours,
  peer: Peer,
  ourRequest: MakeRequest,
  theirRequest: Peer['readDay'],
): Promise<Measured> {
  const cpu = { ours: { seconds: 0, requests: 0 }, theirs: { seconds: 0, requests: 0 } };
  const measure = async (
    of: keyof typeof cpu,
    pids: readonly number[],
    turn: () => Promise<number>,
  ): Promise<number> => {
    const before = await cpuSeconds(pids);
    const requests = await turn();
    cpu[of].seconds += (await cpuSeconds(pids)) - before;
    cpu[of].requests += requests;
    return requests;
  };
  const rates = await compareRates({
    ours: (duration) =>
      measure(
        'ours',
        ours.pids,
        async () => (await load(ours.url, ours.people, ourRequest, { duration })).requests.total,
      ),
    theirs: (duration) =>
      measure(
        'theirs',
        peer.pids,
        async () => (await load(peer.url, peer.people, theirRequest, { duration })).requests.total,
      ),
  });
  const perRequest = ({ seconds, requests }: { seconds: number; requests: number }) => (seconds / requests) * 1e6;
  const microsecondsOfCpu = { ours: perRequest(cpu.ours), theirs: perRequest(cpu.theirs) };
  return {
    microsecondsOfCpu,
    figure: {
      what,
      measured: `${rates.ratio.toFixed(2)}x (${describeRates(rates)}; CPU ${microsecondsOfCpu.ours.toFixed(0)} µs against ${microsecondsOfCpu.theirs.toFixed(0)} µs)`,
      target: least === null ? 'none' : `at least ${least}x`,
      isMet: least === null || rates.ratio >= least,
    },
  };
}

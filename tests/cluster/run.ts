/**
 * `npm run test:cluster`: the product on a highly available cluster, under load and faults
 * (docs/operations/scaling.md).
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, delimiter, resolve } from 'node:path';
import { buildClient } from '../../scripts/build/build-client.ts';
import { exitWithParent } from '../../scripts/lifecycle/exit-with-parent.mjs';
import { startCluster } from './cluster.ts';
import { faultsOf } from './faults.ts';
import { LOGS, createStateFolder, rejectSecondRun, removeStateFolder } from './state-folder.ts';
import { createLedger } from './ledger.ts';
import { measureFault, type Load, type Measurement } from './measure-fault.ts';
import { checkPermissions, removeNetwork } from './network.ts';
import { findPrimary, waitFor } from './nodes.ts';
import { openPages } from './pages.ts';
import { stopRestarting } from './processes.ts';
import { startProber } from './prober.ts';
import { openScreen } from './screen.ts';
import { startWriters } from './writers.ts';
import { existsSync } from 'node:fs';
import { installWithApt } from '../../scripts/browser.ts';

const WRITERS = 16;
const PAGE_USERS = 16;
const FINISH_MS = 60_000;

const startedAt = Date.now();
const printLine = (text: string): void =>
  void process.stdout.write(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${text}\n`);

async function removeEverything(): Promise<void> {
  await removeNetwork();
  await removeStateFolder();
}

let isEnding = false;
async function end(code: number): Promise<never> {
  if (isEnding) return new Promise(() => {});
  isEnding = true;
  stopRestarting();
  await removeEverything().catch((error: Error) => process.stderr.write(`${error.message}\n`));
  process.exit(code);
}

async function endWithError(error: unknown): Promise<void> {
  if (!isEnding) process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  await end(1);
}

function fail(reason: string): never {
  process.stderr.write(`The cluster test cannot run: ${reason}\n`);
  process.exit(1);
}

/** A program of each package. The package counts as installed if the program exists. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'etcd-server': 'etcd',
  'etcd-client': 'etcdctl',
  patroni: 'patroni',
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  'postgresql-client-15': 'psql',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  nftables: 'nft',
  iproute2: 'ip',
  openssl: 'openssl',
};
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];

const findMissing = (): string[] =>
  Object.keys(PROGRAMS).filter((name) => !FOLDERS.some((folder) => existsSync(resolve(folder, PROGRAMS[name]!))));

/** @throws Error that names the packages to install. */
async function ensurePackages(): Promise<void> {
  const missing = findMissing();
  if (missing.length === 0) return;
  process.stdout.write(`Installing ${missing.join(', ')}…\n`);
  await installWithApt(missing);
  const absent = findMissing();
  if (absent.length > 0) throw new Error(`install Debian's packages ${absent.join(' ')}`);
}

const HEAD = [
  'fault',
  'database accepts writes after',
  'first save after',
  'longest time without a save',
  'every page saved after',
  'longest time without a save in the repair',
  'lost',
  'doubled',
  'failed requests of the writers',
];

const seconds = (ms: number | null): string => (ms === null ? '–' : `${(ms / 1_000).toFixed(1)} s`);

function formatReport(measurements: readonly Measurement[], acknowledged: number): string {
  const rows = measurements.map((each) => [
    each.fault,
    ...[each.failoverMs, each.savedMs, each.gapMs, each.allPagesMs, each.repairGapMs].map(seconds),
    String(each.lost),
    String(each.doubled),
    Object.entries(each.failures)
      .map(([kind, count]) => `${String(count)} × ${kind}`)
      .join(', ') || 'none',
  ]);
  const table = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const words = measurements.map((each) => `${each.fault}: ${each.words.join(' > ')}`);
  return [`${String(acknowledged)} items were acknowledged.`, ...['', ...table, '', 'The page said:', ...words]].join(
    '\n',
  );
}

if (process.platform !== 'linux') fail('network namespaces exist only on Linux');
if (process.getuid?.() !== 0) fail('network namespaces need root: run it with sudo');
await ensurePackages().catch((error: Error) => fail(error.message));
await rejectSecondRun().catch((error: Error) => fail(error.message));
await checkPermissions().catch((error: Error) =>
  fail(`this machine does not allow network namespaces or mounts (${error.message.trim()})`),
);
// A run that was killed may have left its processes.
await removeEverything();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(130));
exitWithParent();
// An error of a request that nobody awaits any more must not skip the removal either.
process.on('uncaughtException', (error) => void endWithError(error));
process.on('unhandledRejection', (reason) => void endWithError(reason));
await createStateFolder();
await rm(LOGS, { recursive: true, force: true });
await mkdir(LOGS, { recursive: true });

try {
  const problems = await run();
  printLine(problems.length === 0 ? 'passed' : 'failed');
  await end(problems.length === 0 ? 0 : 1);
} catch (error) {
  await endWithError(error);
}

async function run(): Promise<string[]> {
  await buildClient();
  const cluster = await startCluster(WRITERS + PAGE_USERS + 1, printLine);
  const ledger = createLedger();
  const load: Load = {
    ledger,
    prober: await startProber(await waitFor('a primary', findPrimary)),
    screen: await openScreen(cluster.certificate, WRITERS + PAGE_USERS),
    pages: await openPages(PAGE_USERS, cluster.certificate, ledger, WRITERS),
    writers: await startWriters(WRITERS, cluster.certificate, ledger),
  };
  printLine('writers and pages save');
  const all = faultsOf(cluster);
  const faults = all.filter(({ name }) => name.includes(process.argv[2] ?? ''));
  if (faults.length === 0)
    throw new Error(`No fault has this in its name. All: ${all.map(({ name }) => name).join('; ')}`);
  const measurements: Measurement[] = [];
  for (const fault of faults) {
    printLine(fault.name);
    const measurement = await measureFault(fault, cluster, load);
    measurements.push(measurement);
    for (const problem of measurement.problems) printLine(`  PROBLEM: ${problem}`);
  }
  const problems = [
    ...measurements.flatMap((measurement) => measurement.problems),
    ...(await compareAtTheEnd(load, cluster)),
  ];
  process.stdout.write(`\n${formatReport(measurements, ledger.count())}\n`);
  for (const problem of problems) process.stdout.write(`PROBLEM: ${problem}\n`);
  await writeFile(join(LOGS, 'report.json'), JSON.stringify({ measurements, problems }, null, 2));
  return problems;
}

/** Everything that was typed must be stored once, and the screen must show what is stored. */
async function compareAtTheEnd(
  { writers, pages, screen, prober }: Load,
  { readItems }: { readItems(): Promise<Map<string, string[]>> },
): Promise<string[]> {
  await writers.stop();
  await pages.finish(FINISH_MS);
  const shown = await screen.finish();
  const stored = await readItems();
  const onScreen = stored.get(screen.userId) ?? [];
  const problems = [...pages.problems, ...pages.problemsOf(stored)];
  if (shown.join() !== onScreen.join()) problems.push(`the screen shows ${shown.join()}, stored is ${onScreen.join()}`);
  pages.close();
  await screen.close();
  await prober.stop();
  return problems;
}

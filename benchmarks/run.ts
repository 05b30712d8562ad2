/**
 * `npm run bench [-- NAME…]`: runs the named benchmarks, or all but `ONLY_BY_NAME`, one after another. `scale` names
 * all of docs/performance.md that compare request rates and sizes. One benchmark may have options.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { buildClient } from '../scripts/build/build-client.ts';
import { checkBundleBudgets } from '../scripts/build/bundle-budget.ts';
import { exitWithParent } from '../scripts/lifecycle/exit-with-parent.mjs';

const BENCHMARKS: Readonly<Record<string, string>> = {
  requests: 'requests',
  saves: 'saves',
  workers: 'load/workers',
  pooled: 'pooled',
  auth: 'auth',
  live: 'live',
  reminders: 'reminders',
  latency: 'load/latency',
  overload: 'load/overload',
  soak: 'load/soak',
  small: 'load/small',
  backup: 'backup',
  find: 'find',
  merge: 'merge',
  start: 'start',
  typing: 'browser/typing',
  editable: 'browser/editable',
  cold: 'browser/cold',
  export: 'export',
  import: 'import',
  'coach-overhead': 'coach-overhead',
  lighthouse: 'browser/lighthouse',
  peers: 'peers/peers',
  coach: 'coach/run',
  growth: 'growth/run',
  plans: 'plans/run',
};
/**
 * Benchmarks that run only by name: they cost money with a real model, need much time and disk, or install programs of
 * others. Their options begin with `--`.
 */
const ONLY_BY_NAME: ReadonlySet<string> = new Set([
  'coach',
  'backup',
  'reminders',
  'growth',
  'peers',
  'plans',
  'overload',
  'soak',
  'small',
  'pooled',
  'saves',
]);
const SCALE = ['requests', 'workers', 'pooled', 'latency', 'overload', 'soak', 'peers', 'growth'];

let running: ReturnType<typeof spawn> | null = null;
process.on('SIGTERM', () => {
  running?.kill('SIGTERM');
  process.exit(1);
});
exitWithParent();

const wanted = process.argv
  .slice(2)
  .filter((name) => !name.startsWith('--'))
  .flatMap((name) => (name === 'scale' ? SCALE : name));
const options = process.argv.slice(2).filter((name) => name.startsWith('--'));
const all = ['weight', ...Object.keys(BENCHMARKS)];
if (options.length > 0 && wanted.length !== 1) {
  process.stderr.write('Options belong to one benchmark: name it alone.\n');
  process.exit(2);
}
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown benchmark ${unknown.join(', ')}: choose from ${[...all, 'scale'].join(', ')}\n`);
  process.exit(2);
}
const isWanted = (name: string): boolean => wanted.includes(name) || (wanted.length === 0 && !ONLY_BY_NAME.has(name));

const { model = 'unknown processor' } = cpus()[0] ?? {};
const gigabytes = Math.round(totalmem() / 2 ** 30);
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${model}, ${gigabytes} GB\n`,
);
await buildClient();
if (isWanted('weight')) {
  process.stdout.write('\nPage size (brotli)\n');
  for (const problem of await checkBundleBudgets()) process.stdout.write(`  MISSED  ${problem}\n`);
}
for (const name of Object.keys(BENCHMARKS).filter(isWanted)) {
  const file = join(import.meta.dirname, `${BENCHMARKS[name]}.ts`);
  running = spawn(process.execPath, [file, ...options], { stdio: 'inherit' });
  const [code] = (await once(running, 'exit')) as [number | null];
  if (code !== 0) {
    process.stdout.write(`\n${name}: ${ONLY_BY_NAME.has(name) ? 'missed a target' : 'the benchmark failed'}\n`);
    process.exitCode = 1;
  }
}

/** `npm run bench`: every figure, one benchmark after the other so that none disturbs another. Names pick some of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { buildClient } from '../scripts/build-client.ts';
import { checkBundleBudgets } from '../scripts/bundle-budget.ts';
import { exitWithParent } from '../scripts/exit-with-parent.ts';

const BENCHMARKS = ['requests', 'find', 'start', 'typing', 'editable', 'export', 'coach-overhead', 'lighthouse'];
/** Run by name alone: with an operator's model they cost money. Their options begin with `--`. */
const BY_NAME: Readonly<Record<string, string>> = { coach: 'coach/run' };

let running: ReturnType<typeof spawn> | null = null;
exitWithParent(() => {
  running?.kill('SIGTERM');
  process.exit(1);
});

const wanted = process.argv.slice(2).filter((name) => !name.startsWith('--'));
const options = process.argv.slice(2).filter((name) => name.startsWith('--'));
const all = ['weight', ...BENCHMARKS, ...Object.keys(BY_NAME)];
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(', ')}: choose from ${all.join(', ')}\n`);
  process.exit(2);
}
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);

const { model = 'unknown processor' } = cpus()[0] ?? {};
const gigabytes = Math.round(totalmem() / 2 ** 30);
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${model}, ${gigabytes} GB\n`,
);
await buildClient();
if (isWanted('weight')) {
  process.stdout.write('\nWeight of the pages (brotli)\n');
  for (const problem of await checkBundleBudgets()) process.stdout.write(`  MISSED   ${problem}\n`);
}
for (const name of [...BENCHMARKS.filter(isWanted), ...wanted.filter((chosen) => chosen in BY_NAME)]) {
  const file = join(import.meta.dirname, `${BY_NAME[name] ?? name}.ts`);
  running = spawn(process.execPath, [file, ...options], { stdio: 'inherit' });
  const [code] = (await once(running, 'exit')) as [number | null];
  if (code !== 0) {
    process.stdout.write(
      `\n${name}: ${name in BY_NAME ? 'not everything was reached' : 'the benchmark itself failed'}\n`,
    );
    process.exitCode = 1;
  }
}
process.channel?.unref();

/** Builds the pages when their sources have changed since the last build. */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fingerprint } from './fingerprint.mjs';
import { ROOT } from './parent.ts';

const SOURCES = ['src/client', 'src/domain', 'scripts/vite', 'vite.config.ts', 'package-lock.json'];
const STAMP = join(ROOT, 'dist', '.vite', 'sources');

/** Throws with what the build printed when it fails. */
export async function buildClient(): Promise<void> {
  const sources = await fingerprint(ROOT, SOURCES);
  if ((await readFile(STAMP, 'utf8').catch(() => '')) === sources) return;
  process.stdout.write('Building the pages…\n');
  await runVite();
  await writeFile(STAMP, sources);
}

function runVite(): Promise<void> {
  const vite = spawn(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  vite.stdout.on('data', (part: Buffer) => output.push(part));
  vite.stderr.on('data', (part: Buffer) => output.push(part));
  return new Promise((built, failed) => {
    vite.on('error', failed);
    vite.on('close', (code) => {
      if (code === 0) built();
      else failed(new Error(`the pages cannot be built:\n${Buffer.concat(output).toString()}`));
    });
  });
}

/**
 * `npm run build`: builds stale pages without starting the server, before an upgrade in place
 * (docs/operations/scaling.md).
 */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fingerprint } from '../setup/fingerprint.mjs';
import { ROOT } from '../project.ts';

const SOURCES = ['src/client', 'src/domain', 'src/cli', 'scripts/vite', 'vite.config.ts', 'package-lock.json'];
const STAMP_FILE = join(ROOT, 'dist', '.vite', 'sources');

/** Builds the pages if their sources have changed since the last build. Throws with Vite's output on failure. */
export async function buildClient(): Promise<void> {
  const stamp = fingerprint(ROOT, SOURCES);
  if ((await readFile(STAMP_FILE, 'utf8').catch(() => '')) === stamp) return;
  process.stdout.write('Building the pages…\n');
  await runVite();
  await writeFile(STAMP_FILE, stamp);
}

/** Playwright calls it as its `globalSetup`. */
export default buildClient;

if (import.meta.main) await buildClient();

function runVite(): Promise<void> {
  const vite = spawn(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  vite.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  vite.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve, reject) => {
    vite.on('error', reject);
    vite.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`building the pages failed:\n${Buffer.concat(output).toString()}`));
    });
  });
}

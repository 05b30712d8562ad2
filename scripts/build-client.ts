/** Builds the pages when their sources have changed since the last build. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT } from './parent.ts';

const SOURCES = ['src/client', 'src/domain', 'scripts/vite', 'vite.config.ts', 'package-lock.json'];
const STAMP = join(ROOT, 'dist', '.vite', 'sources');

/** Throws with what the build printed when it fails. */
export async function buildClient(): Promise<void> {
  const sources = await fingerprint();
  if ((await readFile(STAMP, 'utf8').catch(() => '')) === sources) return;
  process.stdout.write('Building the pages…\n');
  await runVite();
  await writeFile(STAMP, sources);
}

async function fingerprint(): Promise<string> {
  const files = (await Promise.all(SOURCES.map((source) => filesBelow(join(ROOT, source))))).flat();
  const contents = await Promise.all(files.map((file) => readFile(file)));
  const hash = createHash('sha256');
  for (const [index, file] of files.entries()) hash.update(`${relative(ROOT, file)}\0`).update(contents[index]!);
  return hash.digest('hex');
}

/** The file itself, or everything in the folder except tests, in a fixed order. */
async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null);
  if (!entries) return [path];
  return entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
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

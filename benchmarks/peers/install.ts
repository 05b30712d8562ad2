/** Installs the packages of a peer into a folder of its own: they are no dependencies of the product. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PEERS_FOLDER } from './peer.ts';

const run = promisify(execFile);

/**
 * Installs exact versions with npm and returns the path of the folder's `package.json`. The installation of an earlier
 * run is reused. `env` is for the packages' own install scripts.
 */
export async function installPackages(
  name: string,
  packages: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = join(PEERS_FOLDER, name);
  const manifest = join(folder, 'package.json');
  const wanted = JSON.stringify({ private: true, dependencies: packages });
  const installed = await readFile(join(folder, 'installed.json'), 'utf8').catch(() => null);
  if (installed === wanted) return manifest;
  process.stdout.write(`Installing ${name}…\n`);
  await mkdir(folder, { recursive: true });
  await writeFile(manifest, wanted);
  await run('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: folder,
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  await writeFile(join(folder, 'installed.json'), wanted);
  return manifest;
}

/** The folder of one run: the data of all parts in memory, and the id of the process that runs the cluster. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../scripts/project.ts';

const run = promisify(execFile);

/** The files that operators get. */
export const CONFIG = join(ROOT, 'deploy', 'cluster');
export const LOGS = join(ROOT, 'test-results', 'cluster');
/** The data of one run. */
export const STATE = '/run/hustle-forge-cluster';

const PID_FILE = join(STATE, 'pid');

/** @throws Error if another run is in progress. */
export async function rejectSecondRun(): Promise<void> {
  const pid = Number(await readFile(PID_FILE, 'utf8').catch(() => '0'));
  if (pid > 0 && existsSync(`/proc/${String(pid)}`)) {
    throw new Error(`the cluster test is already running on this machine, as process ${String(pid)}`);
  }
}

export async function createStateFolder(): Promise<void> {
  await mkdir(STATE, { recursive: true, mode: 0o755 });
  await writeFile(PID_FILE, String(process.pid));
}

/** Makes a folder of limited size. Data in memory is quick to flush, so the test does not measure the machine's disk. */
export async function mountFolder(name: string, megabytes: number, owner: string): Promise<string> {
  const folder = join(STATE, name);
  await mkdir(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${String(megabytes)}m,mode=0700`, 'tmpfs', folder]);
  await run('chown', [owner, folder]);
  return folder;
}

export async function removeStateFolder(): Promise<void> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const folder of mounts.filter((path) => path.startsWith(`${STATE}/`)).toReversed()) {
    // Lazy: a process that was killed a moment ago may still hold the folder.
    await run('umount', ['--lazy', folder]);
  }
  // After an error the copy of the newer version may still be going on, which fills a folder that is being removed.
  await rm(STATE, { recursive: true, force: true, maxRetries: 5 });
}

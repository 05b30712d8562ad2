/** Inspects and stops a cluster's server process from outside: lock file, process list, signals. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Binaries } from './binaries.ts';

/** Fast shutdown (rollback, checkpoint, exit), or immediate shutdown (crash recovery at the next start). */
export type StopMode = 'fast' | 'immediate';

const POLL_MS = 20;
const FAST_STOP_LIMIT_MS = 30_000;
const CLEARING_LIMIT_MS = 60_000;

export type LockFile = { pid: number; port: number; ready: boolean };

/**
 * Reads `postmaster.pid`: the process id in line 1, the port in line 4, the state in line 8. A number is 0 if its line
 * is missing. Null without such a file.
 */
export async function readLockFile(cluster: string): Promise<LockFile | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const lines = text.split('\n');
  return { pid: Number(lines[0]) || 0, port: Number(lines[3]) || 0, ready: lines[7]?.trim() === 'ready' };
}

/** Synchronous, because the last chance to stop the server is while our own process is exiting. */
export function signalServer(pid: number, mode: StopMode, binaries: Binaries): void {
  const signal = mode === 'fast' ? 'SIGINT' : 'SIGQUIT';
  try {
    // Windows has no such signals; PostgreSQL listens on a pipe of its own that pg_ctl knows.
    if (process.platform === 'win32') spawnSync(binaries.pgCtl, ['kill', signal.slice(3), String(pid)]);
    else process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Stops an orphaned server and removes stale lock files before a start. The caller holds the directory lock, so no
 * other supervisor owns a server that still runs.
 */
export async function reclaimCluster(
  cluster: string,
  binaries: Binaries,
  onOrphan: (pid: number) => void,
): Promise<void> {
  const since = Date.now();
  let sentMode: StopMode | null = null;
  for (;;) {
    const lock = await readLockFile(cluster);
    const processes = await serverProcesses(cluster, lock?.pid ?? 0);
    if (processes.length === 0) return removeStaleLocks(cluster);
    if (Date.now() - since > CLEARING_LIMIT_MS) {
      throw new Error(`another PostgreSQL (process ${processes.join(', ')}) keeps using ${cluster}`);
    }
    const due: StopMode = Date.now() - since > FAST_STOP_LIMIT_MS ? 'immediate' : 'fast';
    if (lock && processes.includes(lock.pid) && sentMode !== due) {
      if (sentMode === null) onOrphan(lock.pid);
      signalServer(lock.pid, due, binaries);
      sentMode = due;
    }
    // Without a live postmaster, the remaining processes are its children, which notice its death and exit.
    await delay(POLL_MS);
  }
}

/**
 * PostgreSQL refuses to start while the process id in its lock file is in use. That check is wrong if the id was
 * reused, and for some seconds after a kill -9 while the postmaster is an unreaped zombie. The caller has found no
 * process of PostgreSQL that uses the cluster.
 */
async function removeStaleLocks(cluster: string): Promise<void> {
  await rm(join(cluster, 'postmaster.pid'), { force: true });
  for (const name of await readdir(cluster)) {
    if (name.startsWith('.s.PGSQL.')) await rm(join(cluster, name), { force: true });
  }
}

/**
 * On Linux, the PostgreSQL processes whose working directory is the cluster; a zombie has no working directory, so it
 * is never listed. Elsewhere, the process with the id `lockedBy` if it is a PostgreSQL process.
 */
async function serverProcesses(cluster: string, lockedBy: number): Promise<number[]> {
  if (process.platform !== 'linux') return isPostgres(lockedBy) ? [lockedBy] : [];
  const { dev, ino } = await stat(cluster);
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // Unreadable entries belong to ended processes or to other users: not ours.
    const workingDirectory = await stat(`/proc/${name}/cwd`).catch(() => null);
    if (workingDirectory?.dev !== dev || workingDirectory.ino !== ino) continue;
    const command = await readFile(`/proc/${name}/comm`, 'utf8').catch(() => '');
    if (command.startsWith('postgres')) found.push(Number(name));
  }
  return found;
}

function isPostgres(pid: number): boolean {
  if (pid === 0) return false;
  try {
    const list =
      process.platform === 'win32'
        ? execFileSync('tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'], { encoding: 'utf8' })
        : execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
    return list.includes('postgres');
  } catch {
    return false;
  }
}

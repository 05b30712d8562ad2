/** Starts servers in separate processes, and measures the memory and the CPU time of processes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { warmCompileCache } from '../scripts/setup/warm-compile-cache.mjs';
import { SERVER_ENVIRONMENT, SERVER_NODE_FLAGS } from '../scripts/setup/node-flags.mjs';
import { stopProcess } from '../scripts/child-processes.ts';

import type { SeededDatabase } from './seeded-database.ts';

const ROOT = join(import.meta.dirname, '..');
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'compiled');
const START_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 50;

export type Running = { url: string; pid: number; stop(): Promise<void> };

/**
 * Starts a server with the Node flags, the environment and the warm compile cache of `npm start`. `ready` is a path
 * that returns any response once the server listens. Request logs are written and discarded.
 */
export async function startProcess(script: string, env: Record<string, string>, ready: string): Promise<Running> {
  await warmCompileCache(ROOT, process.execPath, COMPILE_CACHE);
  const port = await freePort();
  const child = spawn(process.execPath, [...SERVER_NODE_FLAGS, join(ROOT, script)], {
    env: {
      ...SERVER_ENVIRONMENT,
      ...process.env,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      HOST: '127.0.0.1',
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(`${url}${ready}`, child);
  return { url, pid: child.pid!, stop: () => stopProcess(child) };
}

/** Starts the product on a database, without the sandbox and the limits of requests. */
export const startProduct = (
  { url, dataDir }: Pick<SeededDatabase, 'url' | 'dataDir'>,
  settings: Record<string, string> = {},
): Promise<Running> =>
  startProcess(
    'src/server/main.ts',
    { DATABASE_URL: url, DATA_DIR: dataDir, SANDBOX: 'off', AUTH_RATE_LIMITS: 'off', ...settings },
    '/readyz',
  );

/** Resolves once the URL returns any response. Throws if the process exits before, or after 30 seconds. */
export async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  for (const since = Date.now(); Date.now() - since < START_TIMEOUT_MS; await delay(POLL_INTERVAL_MS)) {
    if (child.exitCode !== null) throw new Error(`the process for ${url} exited with ${child.exitCode}`);
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
  }
  throw new Error(`${url} did not respond in time`);
}

/** Returns the resident memory in MB on Linux, null on other systems. */
export async function residentMegabytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return match ? Number(match[1]) / 1024 : null;
}

/** `utime`, `stime`, `cutime` and `cstime` of /proc/PID/stat, counted from the field after the command's name. */
const CPU_FIELDS = [11, 12, 13, 14] as const;
const PARENT_FIELD = 1;
/** Linux reports CPU time in hundredths of a second on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;

/** The processes below `roots`, and these themselves, with the fields of /proc/PID/stat after the command's name. */
async function readTree(roots: readonly number[]): Promise<Map<number, number[]>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = new Map<number, number[]>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    // The command's name may contain spaces and parentheses.
    if (stat !== null)
      stats.set(
        pid,
        stat
          .slice(stat.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number),
      );
  }
  const isWithin = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = stats.get(at)?.[PARENT_FIELD])
      if (roots.includes(at)) return true;
    return false;
  };
  return new Map([...stats].filter(([pid]) => isWithin(pid)));
}

/**
 * The memory of a process and all its descendants, shared pages counted once (PSS), by program: PostgreSQL, and the
 * Node programs by their file.
 */
export async function memoryOf(root: number): Promise<{ total: number; parts: { name: string; megabytes: number }[] }> {
  const parts = new Map<string, number>();
  for (const pid of (await readTree([root])).keys()) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    const megabytes = Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 1024;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const name = /postgres/.test(command.split('\0')[0]!)
      ? 'PostgreSQL'
      : (/([\w-]+\.(?:mjs|ts))\0/.exec(command)?.[1] ?? 'other');
    parts.set(name, (parts.get(name) ?? 0) + megabytes);
  }
  const total = [...parts.values()].reduce((sum, megabytes) => sum + megabytes, 0);
  return { total, parts: [...parts].map(([name, megabytes]) => ({ name, megabytes })) };
}

/** Returns the CPU seconds that these processes and all their descendants have used so far (Linux). */
export async function cpuSeconds(roots: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const fields of (await readTree(roots)).values()) for (const field of CPU_FIELDS) ticks += fields[field] ?? 0;
  return ticks / TICKS_PER_SECOND;
}

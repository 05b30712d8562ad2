/** Starts the servers that are compared, each in a process of its own, and says how much memory one holds. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '#server/free-port.ts';
import { warmCompileCache } from '../scripts/warm-compile-cache.mjs';
import { SERVER_NODE_FLAGS } from '../scripts/node-flags.mjs';
import { stopProcess } from '../scripts/stop-process.ts';

const ROOT = join(import.meta.dirname, '..');
const COMPILED = join(ROOT, 'node_modules', '.cache', 'compiled');
const START_LIMIT_MS = 30_000;
const POLL_MS = 50;

export type Running = { url: string; pid: number; stop(): Promise<void> };

/**
 * A server as `npm start` starts it, compiled before. `ready` is a path that answers anything at all once it listens. Request logs are
 * written, to nowhere.
 */
export async function startProcess(script: string, env: Record<string, string>, ready: string): Promise<Running> {
  await warmCompileCache(ROOT, process.execPath, COMPILED);
  const port = await freePort();
  const child = spawn(process.execPath, [...SERVER_NODE_FLAGS, join(ROOT, script)], {
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILED,
      HOST: '127.0.0.1',
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await answers(`${url}${ready}`, child);
  return { url, pid: child.pid!, stop: () => stopProcess(child) };
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (const since = Date.now(); Date.now() - since < START_LIMIT_MS; await delay(POLL_MS)) {
    if (child.exitCode !== null) throw new Error(`the process for ${url} ended with ${child.exitCode}`);
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
  }
  throw new Error(`${url} did not answer`);
}

/** Resident memory in MB, as Linux counts it; null elsewhere. */
export async function residentMegabytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return match ? Number(match[1]) / 1024 : null;
}

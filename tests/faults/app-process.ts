/** Runs the script of `npm start` and lists all processes that it started. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from '#server/free-port.ts';
import { waitForReadyUrl } from '../support/product.ts';

const ROOT = join(import.meta.dirname, '..', '..');

type Process = { pid: number; parent: number; state: string; command: string };

export type StartedProgram = {
  readonly url: string;
  /** The process of `scripts/run.mjs start`, the script that `npm start` runs. */
  readonly script: ChildProcess;
  /** The script and all its descendants, listed when the program was ready. */
  readonly processes: readonly Process[];
  /** Resolves with the exit code, or the signal, of the script. */
  readonly ended: Promise<number | string>;
};

export async function startProgram(dataDir: string): Promise<StartedProgram> {
  const port = await freePort();
  const script = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'start'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: String(port),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(script, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const url = await waitForReadyUrl(script);
  return { url, script, processes: descendantsOf(script.pid!), ended };
}

/** Resolves when the server accepts no more connections. */
export async function waitUntilClosed(url: string): Promise<void> {
  const isOpen = () =>
    fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
  await expect.poll(isOpen).toBe(false);
}

function allProcesses(): Process[] {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return list.split('\n').flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state: state!, command: command! }];
  });
}

export const findChildren = (pid: number): Process[] => allProcesses().filter(({ parent }) => parent === pid);

function descendantsOf(root: number): Process[] {
  const all = allProcesses();
  const found = all.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

/** Returns the given processes that still run. A zombie has ended. */
export function findRunning(processes: readonly Process[]): string[] {
  const now = new Map(allProcesses().map((running) => [running.pid, running]));
  return processes
    .filter(({ pid, command }) => now.get(pid)?.command === command && !now.get(pid)!.state.startsWith('Z'))
    .map(({ pid, command }) => `${pid} ${command}`);
}

/** Starts `programs/open-database.ts`, reads its output and finds its PostgreSQL process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('programs/open-database.ts', import.meta.url));

export type DatabaseProcess = {
  child: ChildProcess;
  /** Resolves with the first line that begins with `beginning`. */
  waitForLine(beginning: string): Promise<string>;
  /** All lines so far. */
  lines: string[];
  /** Resolves when the process has ended and its output has been read. */
  ended: Promise<void>;
};

export function startDatabaseProcess(dataDir: string, mode: 'idle' | 'write' | 'throw'): DatabaseProcess {
  const child = spawn(process.execPath, [PROGRAM, dataDir, mode], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  return {
    child,
    lines,
    ended: Promise.all([once(child, 'exit'), once(reader, 'close')]).then(() => undefined),
    waitForLine: (beginning) =>
      new Promise((resolve, reject) => {
        const existing = lines.find((line) => line.startsWith(beginning));
        if (existing !== undefined) return resolve(existing);
        reader.on('line', (line) => line.startsWith(beginning) && resolve(line));
        reader.once('close', () =>
          reject(new Error(`ended without "${beginning}", after: ${lines.slice(-3).join(' | ')}`)),
        );
      }),
  };
}

/** Returns the pid of the PostgreSQL that serves the directory. */
export function readPostmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]);
}

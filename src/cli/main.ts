/** The program `hustle`, built into one file by `scripts/vite/command-line.ts`. */
import { spawn } from 'node:child_process';
import { homedir, hostname } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommandLine } from './command-line.ts';
import type { Machine } from './program.ts';

for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has ended, as in `hustle week | head -1`.
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

/** Set by the build. */
declare const VERSION: string;

const machine: Machine = {
  env: process.env,
  platform: process.platform,
  home: homedir(),
  hostName: hostname(),
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  version: VERSION,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => new Date(),
  fetch,
  sleep: (ms) => sleep(ms),
  start(program, args) {
    const child = spawn(program, args, { stdio: 'ignore', detached: true });
    // Without such a program the printed address is enough.
    child.on('error', () => undefined);
    child.unref();
  },
};

void runCommandLine(process.argv.slice(2), machine).then((exitCode) => (process.exitCode = exitCode));

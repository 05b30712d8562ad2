/** Measures a warm `npm start` until its ready line: dependencies, build and migrations are up to date. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { waitForReadyUrl } from '../tests/support/product.ts';
import { median, printFigures } from './figures.ts';
import { stopProcess } from '../scripts/child-processes.ts';

const ROUNDS = 5;
const LIMIT_SECONDS = 2.5;
const ROOT = join(import.meta.dirname, '..');

const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-start-'));
try {
  await secondsToReady();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await secondsToReady());
  const seconds = median(rounds);
  printFigures('Starting', [
    {
      what: 'second npm start to the ready line',
      measured: `${seconds.toFixed(2)} s (${rounds.map((round) => round.toFixed(2)).join(', ')})`,
      target: `at most ${LIMIT_SECONDS} s`,
      isMet: seconds <= LIMIT_SECONDS,
    },
  ]);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function secondsToReady(): Promise<number> {
  const port = String(await freePort());
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...process.env, PORT: port, PUBLIC_URL: `http://localhost:${port}`, DATA_DIR: dataDir, DATABASE_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await waitForReadyUrl(child);
  const seconds = (performance.now() - startedAt) / 1000;
  await stopProcess(child);
  return seconds;
}

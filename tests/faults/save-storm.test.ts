/** Durability over HTTP: kills the server and its database, and lets the database hang, during a storm of saves. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { waitForReadyUrl } from '../support/product.ts';
import { findChildren, readPostmasterPid, serverEnvironment, spawnServer } from './processes.ts';
import { startWriters, type SavingWriters } from './saving-writers.ts';

const KILLS = process.env['TEST_LONG'] ? 50 : 3;
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_122);
const WRITERS = 6;
/** The long form also stops all processes of the database, for longer than a connection may be silent. */
const HANG_MS = process.env['TEST_LONG'] ? 30_000 : 0;

const kills = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 50, max: 900 }),
    victim: fc.constantFrom<'server' | 'database' | 'both'>('server', 'database', 'both'),
  }),
  { minLength: KILLS, maxLength: KILLS },
);

test(
  `each acknowledged save is stored exactly once after ${KILLS} times kill -9 and a hang of ${HANG_MS} ms (seed ${SEED})`,
  { timeout: 60_000 + KILLS * 30_000 + 2 * HANG_MS },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-saves-'));
    const port = await freePort();
    let server = await start(dataDir, port);
    const url = `http://localhost:${port}`;
    let writers: SavingWriters | null = null;
    try {
      writers = await startWriters(url, WRITERS);
      for (const { afterMs, victim } of fc.sample(kills, { numRuns: 1, seed: SEED })[0]!) {
        await writers.waitForSaves();
        await delay(afterMs);
        if (victim !== 'server') process.kill(readPostmasterPid(dataDir), 'SIGKILL');
        if (victim === 'database') continue;
        const exited = once(server, 'exit');
        server.kill('SIGKILL');
        await exited;
        server = await start(dataDir, port);
      }
      if (HANG_MS > 0) {
        const postmaster = readPostmasterPid(dataDir);
        const processes = [postmaster, ...findChildren(postmaster).map(({ pid }) => pid)];
        for (const pid of processes) process.kill(pid, 'SIGSTOP');
        const [health, ready] = await Promise.all([fetch(`${url}/healthz`), fetch(`${url}/readyz`), delay(HANG_MS)]);
        expect([health.status, ready.status]).toEqual([200, 503]);
        for (const pid of processes) process.kill(pid, 'SIGCONT');
      }
      await writers.waitForSaves();
      await writers.stop();
      expect(writers.unexpected).toEqual([]);
      await writers.expectStoredOnce();
    } finally {
      writers?.abandon();
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);

async function start(dataDir: string, port: number): Promise<ChildProcess> {
  const server = spawnServer(serverEnvironment(port, dataDir, { LOG_LEVEL: 'silent' }));
  await waitForReadyUrl(server);
  return server;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { listBackups } from '../backup/folder.ts';
import { createLimiters } from '../load/limiters.ts';
import { createRequestContext } from '../load/request-context.ts';
import { PACKAGE_VERSION } from '../package-version.ts';
import { registerProcessMetrics, registerLoad, registerBackupAge } from './process.ts';
import { Registry } from './prom-client.ts';

let stop = (): void => undefined;
afterEach(() => stop());

function scrape(dataDir = tmpdir()): () => Promise<(name: string) => number> {
  const registry = new Registry();
  stop = registerProcessMetrics(registry, dataDir);
  return async () => {
    const lines = (await registry.metrics()).split('\n');
    return (name) => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
  };
}

test('reports the current CPU time without accumulating it', async () => {
  const read = scrape();
  const first = (await read())('process_cpu_seconds_total');
  const second = (await read())('process_cpu_seconds_total');
  expect(second).toBeGreaterThanOrEqual(first);
  expect(second).toBeLessThan(first * 1.5 + 1);
});

test('reports a blocked event loop once, in the scrape that follows', async () => {
  const read = scrape();
  const longest = async () => (await read())('nodejs_eventloop_lag_max_seconds');
  // The first sample after a reset only starts the clock of the histogram, so a block may be missed.
  const blockOnce = async () => {
    const until = performance.now() + 1_000;
    while (performance.now() < until);
    // Two turns, so that the timers have run between them.
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
    return longest();
  };
  await expect.poll(blockOnce, { interval: 120 }).toBeGreaterThan(0.9);
  expect(await longest()).toBeLessThan(0.9);
});

test('names the version of the program, and the space of the data directory', async () => {
  const read = await scrape()();
  expect(read(`hustle_forge_build_info{version="${PACKAGE_VERSION}",node="${process.versions.node}"}`)).toBe(1);
  expect(read('hustle_forge_data_directory_bytes{kind="available"}')).toBeGreaterThan(0);
});

test('reports the other figures when the data directory is gone', async () => {
  const read = await scrape('/no/such/folder')();
  expect(read('process_resident_memory_bytes')).toBeGreaterThan(0);
  expect(read('hustle_forge_data_directory_bytes{kind="size"}')).toBeNaN();
});

test('writes what is used, queued and refused of each limit, and does not accumulate between scrapes', async () => {
  const limiters = createLimiters();
  const registry = new Registry();
  registerLoad(registry, limiters);
  const limiter = limiters.createLimiter('find', { maxRunning: 1, maxQueued: 1 });
  const streams = limiters.createQuota('streams', 2);
  limiters.createCounter('slow_clients').add();
  limiter.tryAcquire(createRequestContext('one'));
  void limiter.acquire(createRequestContext('one'));
  await expect(limiter.acquire(createRequestContext('one'))).rejects.toThrow('Too much at once');
  expect([streams.take('one'), streams.take('one')]).toEqual([true, false]);
  await registry.metrics();
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'hustle_forge_limit_used{limit="find"} 1',
      'hustle_forge_limit_used{limit="streams"} 1',
      'hustle_forge_limit_queued{limit="find"} 1',
      'hustle_forge_refused_total{limit="find",reason="queue_full"} 1',
      'hustle_forge_refused_total{limit="find",reason="timeout"} 0',
      'hustle_forge_refused_total{limit="streams",reason="full"} 1',
      'hustle_forge_refused_total{limit="streams",reason="displaced"} 0',
      'hustle_forge_refused_total{limit="slow_clients",reason="slow"} 1',
    ]),
  );
});

test('reports the newest backup, and no age without a backup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-backups-'));
  const registry = new Registry();
  registerBackupAge(registry, () => listBackups(folder));
  expect(await registry.metrics()).not.toMatch(/^hustle_forge_backup/m);
  for (const name of ['20261121T031000Z.tar.zst', '20261122T031000Z.tar.zst.age'])
    await writeFile(join(folder, `hustle-forge-${name}`), '');
  const seconds = Date.UTC(2026, 10, 22, 3, 10) / 1000;
  expect(await registry.metrics()).toContain(`hustle_forge_backup_last_timestamp_seconds{encrypted="true"} ${seconds}`);
  await rm(folder, { recursive: true });
});

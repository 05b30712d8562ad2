import { tmpdir } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { PACKAGE_VERSION } from './package-version.ts';
import { registerProcessMetrics } from './process.ts';
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
    const until = performance.now() + 250;
    while (performance.now() < until);
    // Two turns, so that the timers have run between them.
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
    return longest();
  };
  await expect.poll(blockOnce, { interval: 120 }).toBeGreaterThan(0.1);
  expect(await longest()).toBeLessThan(0.1);
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

import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { healthRoutes } from './health.ts';
import type { Metrics } from './metrics.ts';

afterEach(() => void vi.useRealTimers());

test('scrapes at once share the metrics of one collection, and a later scrape collects again', async () => {
  let collections = 0;
  const collected = Promise.withResolvers<string>();
  const text = (): Promise<string> => {
    collections += 1;
    return collections === 1 ? collected.promise : Promise.resolve('later');
  };
  const routes = healthRoutes({
    config: readConfig({ NODE_ENV: 'test', METRICS: 'open' }),
    database: null as never,
    metrics: { text } as unknown as Metrics,
  });
  const scrapes = Array.from({ length: 1_000 }, async () => (await routes.request('/metrics')).text());
  collected.resolve('figures');
  expect(new Set(await Promise.all(scrapes))).toEqual(new Set(['figures']));
  expect(collections).toBe(1);
  expect(await (await routes.request('/metrics')).text()).toBe('later');
});

function openRoutes() {
  const checks: PromiseWithResolvers<boolean>[] = [];
  const isReady = (): Promise<boolean> => {
    const check = Promise.withResolvers<boolean>();
    checks.push(check);
    return check.promise;
  };
  const routes = healthRoutes({
    config: readConfig({ NODE_ENV: 'test' }),
    database: { isReady } as unknown as Database,
    metrics: null as never,
  });
  return { checks, routes };
}

test('thousands of probes at once wait for one check of the database, and a later one checks again', async () => {
  const { checks, routes } = openRoutes();
  const probes = Array.from({ length: 2_000 }, async () => routes.request('/readyz'));
  expect(checks).toHaveLength(1);
  checks[0]!.resolve(true);
  const statuses = (await Promise.all(probes)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));

  const later = routes.request('/readyz');
  checks[1]!.reject(new Error('the database is gone'));
  expect((await later).status).toBe(503);
  expect(checks).toHaveLength(2);
});

test('answers 503 after two seconds while the database hangs, and a later probe checks again', async () => {
  vi.useFakeTimers();
  const { checks, routes } = openRoutes();
  let status: number | null = null;
  void Promise.resolve(routes.request('/readyz')).then((response) => (status = response.status));
  await vi.advanceTimersByTimeAsync(1_999);
  expect(status).toBeNull();
  await vi.advanceTimersByTimeAsync(1);
  expect(status).toBe(503);

  const later = routes.request('/readyz');
  expect(checks).toHaveLength(2);
  checks[1]!.resolve(true);
  expect((await later).status).toBe(200);
});

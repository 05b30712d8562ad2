import { expect, test } from 'vitest';
import { createMetrics, createRegistry } from '#server/http/metrics.ts';
import { Gauge, mergeMetrics, type WorkerMetrics } from './prom-client.ts';

/** As the IPC channel delivers it. */
async function describeWorker(slot: number, ms: number): Promise<WorkerMetrics> {
  const registry = createRegistry();
  createMetrics(registry).observe({ method: 'GET', route: '/', status: 200, ms });
  for (const aggregator of ['sum', 'max', 'first'] as const) {
    new Gauge({ name: `gauge_${aggregator}`, help: aggregator, aggregator, registers: [registry] }).set(ms);
  }
  return JSON.parse(JSON.stringify({ slot, metrics: await registry.getMetricsAsJSON() })) as WorkerMetrics;
}

test('keeps the counts of each worker apart and combines gauges by their aggregators', async () => {
  const text = await mergeMetrics([await describeWorker(1, 10), await describeWorker(2, 2_000)]);
  const bucket = 'hustle_forge_request_seconds_bucket{le="0.01",method="GET",route="/",status="200",worker=';
  expect(text).toContain(`${bucket}"1"} 1\n`);
  expect(text).toContain(`${bucket}"2"} 0\n`);
  expect(text).toContain('hustle_forge_request_seconds_sum{method="GET",route="/",status="200",worker="2"} 2\n');
  expect(text.match(/^# TYPE hustle_forge_request_seconds /gm)).toHaveLength(1);
  expect(text).toMatch(/^gauge_sum 2010$/m);
  expect(text).toMatch(/^gauge_max 2000$/m);
  expect(text).toMatch(/^gauge_first 10$/m);
});

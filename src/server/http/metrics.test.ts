import { expect, test } from 'vitest';
import { createMetrics, createRegistry } from './metrics.ts';

const linesOf = async (text: Promise<string>): Promise<string[]> => (await text).split('\n');

test('writes the request histogram with cumulative buckets in seconds', async () => {
  const metrics = createMetrics(createRegistry());
  for (const ms of [4, 5, 60, 20_000]) metrics.observe({ method: 'GET', route: '/readyz', status: 200, ms });
  const lines = await linesOf(metrics.text());
  const bucket = (le: string) =>
    lines.find((line) => line.startsWith('hustle_forge_request_seconds_bucket{') && line.includes(`le="${le}"`));
  expect(['0.005', '0.05', '0.1', '10', '+Inf'].map((le) => bucket(le)?.split(' ')[1])).toEqual([
    '2',
    '2',
    '3',
    '3',
    '4',
  ]);
  expect(bucket('0.1')).toContain('method="GET",route="/readyz",status="200"');
  expect(lines).toContain('hustle_forge_request_seconds_count{method="GET",route="/readyz",status="200"} 4');
  expect(lines).toContain('hustle_forge_request_seconds_sum{method="GET",route="/readyz",status="200"} 20.069');
});

test('keeps the figures of two registries apart', async () => {
  const [one, other] = [createMetrics(createRegistry()), createMetrics(createRegistry())];
  one.observe({ method: 'GET', route: '/', status: 200, ms: 1 });
  expect(await other.text()).not.toContain('route="/"');
});

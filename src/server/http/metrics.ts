/** Counts and times requests and writes them as Prometheus text (https://prometheus.io/docs/instrumenting/exposition_formats/). */
const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000];

type Series = { labels: string; count: number; sumMs: number; buckets: number[] };

export type Metrics = {
  observe(request: { method: string; route: string; status: number; ms: number }): void;
  text(): string;
};

export function createMetrics(): Metrics {
  const series = new Map<string, Series>();

  return {
    observe({ method, route, status, ms }) {
      const key = `${status} ${method} ${route}`;
      let found = series.get(key);
      if (!found) series.set(key, (found = emptySeries(method, route, status)));
      found.count += 1;
      found.sumMs += ms;
      const bucket = BUCKETS_MS.findIndex((limit) => ms <= limit);
      if (bucket !== -1) found.buckets[bucket]! += 1;
    },
    text: () => [...[...series.values()].flatMap(requestLines), ...processLines()].join('\n') + '\n',
  };
}

const emptySeries = (method: string, route: string, status: number): Series => ({
  labels: `method="${method}",route="${route.replaceAll(/["\\\n]/g, '_')}",status="${status}"`,
  count: 0,
  sumMs: 0,
  buckets: BUCKETS_MS.map(() => 0),
});

const NAME = 'hustle_forge_request_seconds';

function requestLines({ labels, count, sumMs, buckets }: Series, index: number): string[] {
  let below = 0;
  return [
    ...(index === 0 ? [`# HELP ${NAME} Time to answer a request.`, `# TYPE ${NAME} histogram`] : []),
    ...buckets.map((inBucket, at) => `${NAME}_bucket{${labels},le="${BUCKETS_MS[at]! / 1000}"} ${(below += inBucket)}`),
    `${NAME}_bucket{${labels},le="+Inf"} ${count}`,
    `${NAME}_sum{${labels}} ${sumMs / 1000}`,
    `${NAME}_count{${labels}} ${count}`,
  ];
}

function processLines(): string[] {
  const gauges = {
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_cpu_seconds_total: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
    process_uptime_seconds: process.uptime(),
  };
  return Object.entries(gauges).flatMap(([name, value]) => [
    `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`,
    `${name} ${value}`,
  ]);
}

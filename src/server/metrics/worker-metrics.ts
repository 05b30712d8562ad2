/**
 * Metrics of several workers behind one port. A scrape reaches some worker, which answers for all of them. Gauges are
 * combined by the aggregator of each metric. Counters and histograms carry the label `worker` instead: a sum would fall
 * whenever a worker is replaced, which Prometheus reads as a reset, and counts everything again.
 */
import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

type Figures = Awaited<ReturnType<PromClient.Registry['getMetricsAsJSON']>>;
export type WorkerMetrics = { slot: number; metrics: Figures };

/** Loaded by the first scrape, and by its own path (docs/decisions/0019). */
const loadAggregator = (): typeof PromClient.AggregatorRegistry =>
  createRequire(import.meta.url)('prom-client/lib/cluster.js') as typeof PromClient.AggregatorRegistry;

export function mergeMetrics(workers: readonly WorkerMetrics[]): Promise<string> {
  const named = workers.map(({ slot, metrics }) =>
    metrics.map((metric) =>
      String(metric.type) === 'gauge'
        ? metric
        : {
            ...metric,
            values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker: slot } })),
          },
    ),
  );
  return loadAggregator().aggregate(named).metrics();
}

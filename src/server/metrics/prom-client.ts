/**
 * Loads the modules of prom-client by their own paths: the package's index also loads its push gateway, cluster support
 * and default metrics, which is 8 MB of resident memory for code that never runs here (docs/decisions/0019).
 */
import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

const load = createRequire(import.meta.url);
export const Registry = load('prom-client/lib/registry.js') as typeof PromClient.Registry;
export const Histogram = load('prom-client/lib/histogram.js') as typeof PromClient.Histogram;
export const Counter = load('prom-client/lib/counter.js') as typeof PromClient.Counter;
export const Gauge = load('prom-client/lib/gauge.js') as typeof PromClient.Gauge;

export type MetricsRegistry = PromClient.Registry;
export type GaugeOf<Label extends string> = PromClient.Gauge<Label>;
/** How the values of several worker processes become one: prom-client's own names. */
export type Aggregator = 'sum' | 'first' | 'min' | 'max' | 'average' | 'omit';

// Metrics of several workers behind one port. A scrape reaches some worker, which answers for all of them. Gauges are
// combined by the aggregator of each metric. Counters and histograms carry the label `worker` instead: a sum would fall
// whenever a worker is replaced, which Prometheus reads as a reset, and counts everything again.

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

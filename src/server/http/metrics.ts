/**
 * Request and process metrics in the Prometheus text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 */
import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

/**
 * Loads the modules by their own paths: the package's index also loads its push gateway, cluster support and default
 * metrics, which is 8 MB of resident memory for code that never runs here (docs/decisions/0019).
 */
const load = createRequire(import.meta.url);
const Registry = load('prom-client/lib/registry.js') as typeof PromClient.Registry;
const Histogram = load('prom-client/lib/histogram.js') as typeof PromClient.Histogram;
const Counter = load('prom-client/lib/counter.js') as typeof PromClient.Counter;
const Gauge = load('prom-client/lib/gauge.js') as typeof PromClient.Gauge;

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export type Metrics = {
  observe(request: { method: string; route: string; status: number; ms: number }): void;
  text(): Promise<string>;
};

export const createRegistry = (): PromClient.Registry => new Registry();

/** @param registry this server's own: two servers in one process, as in the tests, share no figures */
export function createMetrics(registry: PromClient.Registry): Metrics {
  const registers = [registry];
  const requests = new Histogram({
    name: 'hustle_forge_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  void new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  void new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  void new Gauge({
    name: 'process_uptime_seconds',
    help: 'Time since the process started in seconds.',
    registers,
    collect() {
      this.set(process.uptime());
    },
  });

  return {
    observe({ method, route, status, ms }) {
      requests.observe({ method, route, status }, ms / 1000);
    },
    text: () => registry.metrics(),
  };
}

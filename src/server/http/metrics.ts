/**
 * The metrics of one server in the Prometheus text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). docs/operations/monitoring.md says which to begin
 * with.
 */
import { createEventCounters, type EventCounters } from '../metrics/events.ts';
import { Histogram, Registry, type MetricsRegistry } from '../metrics/prom-client.ts';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export type Metrics = {
  observe(request: { method: string; route: string; status: number; ms: number }): void;
  readonly events: EventCounters;
  text(): Promise<string>;
};

export const createRegistry = (): MetricsRegistry => new Registry();

/** @param registry this server's own: two servers in one process, as in the tests, share no figures */
export function createMetrics(registry: MetricsRegistry): Metrics {
  const requests = new Histogram({
    name: 'hustle_forge_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    observe({ method, route, status, ms }) {
      requests.observe({ method, route, status }, ms / 1000);
    },
    events: createEventCounters(registry),
    text: () => registry.metrics(),
  };
}

/** Metrics of the limits of docs/operations/overload.md, by their names. */
import type { Limiters } from '../load/limiters.ts';
import { Counter, Gauge, type MetricsRegistry } from './prom-client.ts';

export function registerLoad(registry: MetricsRegistry, limiters: Pick<Limiters, 'states'>): void {
  const registers = [registry];
  const used = new Gauge({
    name: 'hustle_forge_limit_used',
    help: 'The used part of a limit: running requests, connections, streams, or bytes of bodies.',
    labelNames: ['limit'],
    registers,
    collect() {
      const { queues, quotas } = limiters.states();
      for (const [limit, { running }] of queues) used.set({ limit }, running);
      for (const [limit, { taken }] of quotas) used.set({ limit }, taken);
    },
  });
  const queued = new Gauge({
    name: 'hustle_forge_limit_queued',
    help: 'Requests that wait in the queue of a limit.',
    labelNames: ['limit'],
    registers,
    collect() {
      for (const [limit, state] of limiters.states().queues) queued.set({ limit }, state.queued);
    },
  });
  const refused = new Counter({
    name: 'hustle_forge_refused_total',
    help: 'Requests and connections that a limit has refused, by reason.',
    labelNames: ['limit', 'reason'],
    registers,
    collect() {
      const { queues, quotas, counters } = limiters.states();
      refused.reset();
      for (const [limit, state] of queues) {
        for (const [reason, count] of Object.entries(state.refused)) refused.inc({ limit, reason }, count);
      }
      for (const [limit, state] of quotas) {
        refused.inc({ limit, reason: 'full' }, state.refused);
        refused.inc({ limit, reason: 'displaced' }, state.displaced);
      }
      for (const [limit, count] of counters) refused.inc({ limit, reason: 'slow' }, count);
    },
  });
}

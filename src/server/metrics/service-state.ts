/** Gauges over the state of this process's services, read when a scrape asks for them. */
import { Gauge, type MetricsRegistry } from './prom-client.ts';

export type PoolState = {
  /** Open connections, of which `idle` serve no statement. */
  readonly size: number;
  readonly idle: number;
  readonly max: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
};

export type ServiceState = {
  pool(): PoolState;
  openStreams(): number;
  /** Lengths of the queues in memory, by name. */
  queues(): Readonly<Record<string, number>>;
};

export function registerServiceState(registry: MetricsRegistry, state: ServiceState): void {
  const registers = [registry];
  const connections = new Gauge({
    name: 'hustle_forge_pool_connections',
    help: 'Connections of the database pool: open, idle and the limit.',
    labelNames: ['state'],
    registers,
    collect() {
      const { size, idle, max } = state.pool();
      connections.set({ state: 'open' }, size);
      connections.set({ state: 'idle' }, idle);
      connections.set({ state: 'max' }, max);
    },
  });
  void new Gauge({
    name: 'hustle_forge_pool_waiting',
    help: 'Statements that wait for a connection of the database pool.',
    registers,
    collect() {
      this.set(state.pool().waiting);
    },
  });
  void new Gauge({
    name: 'hustle_forge_event_streams',
    help: 'Open streams of changed days.',
    registers,
    collect() {
      this.set(state.openStreams());
    },
  });
  const queued = new Gauge({
    name: 'hustle_forge_queued',
    help: 'Entries of the queues in memory, those in progress included.',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, length] of Object.entries(state.queues())) queued.set({ queue }, length);
    },
  });
}

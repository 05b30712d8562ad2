/**
 * Figures of this process: memory, CPU, event loop, garbage collection, disk space, queues and limits, and the age of
 * the newest backup. Most names are those of prom-client.
 */
import { statfs } from 'node:fs/promises';
import {
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  constants,
  type PerformanceEntry,
} from 'node:perf_hooks';
import type { PoolState } from '../database/database.ts';
import type { Limiters } from '../load/limiters.ts';
import { PACKAGE_VERSION } from '../package-version.ts';
import { Counter, Gauge, type Aggregator, type MetricsRegistry } from './prom-client.ts';

/** How often the delay of the event loop is sampled. A finer resolution wakes an idle process more often. */
const LAG_RESOLUTION_MS = 50;
const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
};

/** Returns a function that stops the sampling. */
export function registerProcessMetrics(registry: MetricsRegistry, dataDir: string): () => void {
  const registers = [registry];
  const gauge = (name: string, help: string, aggregator: Aggregator, read: () => number) =>
    new Gauge({
      name,
      help,
      aggregator,
      registers,
      collect() {
        this.set(read());
      },
    });
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });

  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', 'sum', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Used heap of V8 in bytes.', 'sum', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Memory of buffers in bytes.', 'sum', () => process.memoryUsage().external);
  total('process_cpu_seconds_total', 'User and system CPU time spent in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_uptime_seconds', 'Time since the process started in seconds.', 'min', () => process.uptime());
  total(
    'nodejs_eventloop_active_seconds_total',
    'Time that the event loop was busy; its rate is the utilisation of one core.',
    () => performance.eventLoopUtilization().active / 1000,
  );

  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  // The samples include the sampling interval itself.
  const lagSeconds = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - LAG_RESOLUTION_MS / 1000) : 0;
  gauge('nodejs_eventloop_lag_p99_seconds', 'Delay of the event loop since the last scrape.', 'max', () =>
    lagSeconds(lag.count === 0 ? 0 : lag.percentile(99)),
  );
  gauge('nodejs_eventloop_lag_max_seconds', 'Longest delay of the event loop since the last scrape.', 'max', () => {
    const longest = lagSeconds(lag.count === 0 ? 0 : lag.max);
    lag.reset();
    return longest;
  });

  const gcSeconds = new Counter({
    name: 'nodejs_gc_seconds_total',
    help: 'Time of garbage collection by kind.',
    labelNames: ['kind'],
    registers,
  });
  const gc = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail, duration } = entry as PerformanceEntry & { detail: { kind: number } };
      const kind = GC_KINDS[detail.kind] ?? 'other';
      gcSeconds.inc({ kind }, duration / 1000);
    }
  });
  gc.observe({ entryTypes: ['gc'] });

  new Gauge({
    name: 'hustle_forge_build_info',
    help: 'Always 1; the labels name the version of this program and of Node.',
    labelNames: ['version', 'node'],
    aggregator: 'first',
    registers,
  }).set({ version: PACKAGE_VERSION, node: process.versions.node }, 1);

  const dataBytes = new Gauge({
    name: 'hustle_forge_data_directory_bytes',
    help: 'Size and available space of the file system that holds DATA_DIR.',
    labelNames: ['kind'],
    aggregator: 'first',
    registers,
    async collect() {
      const found = await statfs(dataDir).catch(() => null);
      if (found === null) return;
      dataBytes.set({ kind: 'size' }, found.blocks * found.bsize);
      dataBytes.set({ kind: 'available' }, found.bavail * found.bsize);
    },
  });

  return () => {
    lag.disable();
    gc.disconnect();
  };
}

type ServiceState = {
  pool(): PoolState;
  openStreams(): number;
  /** Lengths of the queues in memory, by name. */
  queues(): Readonly<Record<string, number>>;
};

/** Gauges over the state of this process's services, read when a scrape asks for them. */
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

/** Metrics of the limits of docs/operations/overload.md, by their names. */
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

/**
 * The gauge of the time of the newest backup in BACKUP_DIR. It has no value while the folder holds no backup, as where
 * another machine keeps them.
 * @param listBackups the newest first
 */
export function registerBackupAge(
  registry: MetricsRegistry,
  listBackups: () => Promise<readonly { file: string; createdAt: Date }[]>,
): void {
  void new Gauge({
    name: 'hustle_forge_backup_last_timestamp_seconds',
    help: 'When the newest backup in BACKUP_DIR was begun.',
    // Without labels, the gauge would report 0 while there is no backup.
    labelNames: ['encrypted'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const [newest] = await listBackups().catch(() => []);
      this.reset();
      if (newest) this.set({ encrypted: String(newest.file.endsWith('.age')) }, newest.createdAt.getTime() / 1000);
    },
  });
}

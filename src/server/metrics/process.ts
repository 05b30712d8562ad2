/** Figures of this process: memory, CPU, event loop and garbage collection. Names are prom-client's where it has one. */
import { statfs } from 'node:fs/promises';
import {
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  constants,
  type PerformanceEntry,
} from 'node:perf_hooks';
import { PACKAGE_VERSION } from './package-version.ts';
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

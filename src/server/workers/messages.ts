/** The messages between the supervisor and its workers over their IPC channels. */
import type { WorkerMetrics } from './shared-metrics.ts';

export type ToWorker =
  /** The first message. `slot` names the worker in log lines and metrics. Its successor gets the same slot. */
  | { type: 'start'; slot: number }
  | { type: 'drain' }
  | { type: 'stop' }
  | { type: 'describe metrics'; scrape: number }
  | { type: 'metrics of all'; scrape: number; workers: WorkerMetrics[] };

export type ToSupervisor =
  | { type: 'ready' }
  | { type: 'scrape'; scrape: number }
  | { type: 'metrics'; scrape: number; metrics: WorkerMetrics['metrics'] };

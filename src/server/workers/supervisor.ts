/**
 * Runs several worker processes behind one port (`WEB_CONCURRENCY`). This process owns what exists once per machine:
 * the port, the embedded database, signals and the ready line. It serves no request itself. Workers are started from
 * the files on disk, so a rolling restart also starts a new version of the program.
 */
import cluster, { type Worker } from 'node:cluster';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { openEmbeddedServer, type EmbeddedServer } from '../database/embedded/server.ts';
import { connectionsFor } from '../database/embedded/supervisor.ts';
import type { Logger } from '../log.ts';
import type { WorkerMetrics } from '../metrics/prom-client.ts';
import { createPool, reducePool, type PoolAction, type PoolEvent, type WorkerId } from './worker-pool.ts';

const WORKER = join(import.meta.dirname, 'worker.ts');
/** Longer than a shutdown of a worker takes: 10 s for requests and jobs, then 8 s for mail. */
export const STOP_LIMIT_MS = 40_000;
/** Longer than a drain of a worker takes: 75 s for requests (`http/listen.ts`), then its shutdown. */
const DRAIN_LIMIT_MS = 120_000;

type Deps = { config: Config; log: Logger };

/** Resolves when all workers are ready. Afterwards the process ends by a signal, or when its workers keep ending. */
export async function superviseWorkers({ config, log }: Deps): Promise<void> {
  const { dataDir, databaseUrl, workers: count } = config;
  let database: EmbeddedServer | null = null;
  // The workers accept from one shared socket. With the default, round robin, this process accepts and passes each
  // connection on: one on its way to a worker that is killed is lost, and its client waits for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: WORKER, args: [] });

  const processes = new Map<WorkerId, Worker>();
  const scrapes = createScrapes({
    sendMessage,
    listServing: () =>
      pool.slots.flatMap(({ slot, worker, readyAt }) =>
        worker !== null && readyAt !== null ? [{ worker, slot }] : [],
      ),
  });
  const isReady = Promise.withResolvers<void>();
  let pool = createPool(count);

  function dispatch(event: PoolEvent): void {
    const [changed, actions] = reducePool(pool, event);
    pool = changed;
    for (const action of actions) runAction(action);
  }

  function runAction(action: PoolAction): void {
    switch (action.type) {
      case 'fork':
        return forkWorker(action.worker, action.slot);
      case 'drain':
        return finishWorker(action.worker, 'drain', DRAIN_LIMIT_MS);
      case 'stop':
        return finishWorker(action.worker, 'stop', STOP_LIMIT_MS);
      case 'retry later':
        return dispatchLater(action.ms, { type: 'retry', slot: action.slot });
      case 'wait for drain':
        return dispatchLater(action.ms, { type: 'drain waited', worker: action.worker });
      case 'announce ready':
        process.stdout.write(`Hustle Forge is ready at ${config.publicUrl}\n`);
        return isReady.resolve();
      case 'log':
        return log[action.level]({ ...action.fields }, action.message);
      case 'print error':
        process.stderr.write(`Hustle Forge stops: ${action.message}\n`);
        return undefined;
      case 'exit':
        return void exitProcess(action.code);
    }
  }

  const dispatchLater = (ms: number, event: PoolEvent): void => void setTimeout(() => dispatch(event), ms).unref();

  function forkWorker(worker: WorkerId, slot: number): void {
    const forked = cluster.fork();
    processes.set(worker, forked);
    forked.send({ type: 'start', slot } satisfies ToWorker);
    forked.on('message', (message: ToSupervisor) => {
      if (message.type === 'ready') dispatch({ type: 'ready', worker, at: performance.now() });
      else scrapes.receive(worker, message);
    });
    // A process that cannot be started emits `error` and no `exit`.
    forked.process.once('error', ({ message }) => reportEnd(message));
    forked.once('exit', (code, signal) => reportEnd(signal ? `signal ${signal}` : `exit code ${code}`));
    function reportEnd(reason: string): void {
      if (processes.delete(worker)) dispatch({ type: 'ended', worker, at: performance.now(), reason });
    }
  }

  function sendMessage(worker: WorkerId, message: ToWorker): boolean {
    const known = processes.get(worker);
    if (!known?.isConnected()) return false;
    // A worker that ends at this moment emits `error` on its channel. It is ignored, because `exit` follows.
    known.send(message, () => undefined);
    return true;
  }

  function finishWorker(worker: WorkerId, type: 'drain' | 'stop', limitMs: number): void {
    sendMessage(worker, { type });
    setTimeout(() => processes.get(worker)?.process.kill('SIGKILL'), limitMs).unref();
  }

  async function exitProcess(code: number): Promise<void> {
    try {
      await database?.close();
      process.exit(code);
    } catch (error) {
      log.error({ err: error }, 'shutdown failed');
      process.exit(1);
    }
  }

  // Before the database starts, which takes seconds: without this listener, a reload meanwhile would end the program.
  process.on('SIGHUP', () => dispatch({ type: hasLostTerminal() ? 'stop' : 'reload' }));
  if (databaseUrl === null) {
    const settings = { max_connections: connectionsFor(count) };
    database = await openEmbeddedServer({ dataDir, log, settings });
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => dispatch({ type: 'stop' }));
  dispatch({ type: 'start' });
  await isReady.promise;
}

/** The scrape leaves out a worker that has not answered in this time, for example because its event loop is blocked. */
const ANSWER_LIMIT_MS = 2_000;

type ScrapeDeps = {
  /** Sends a message; false if the worker has ended. */
  sendMessage: (worker: WorkerId, message: ToWorker) => boolean;
  /** The workers that accept requests. */
  listServing: () => { worker: WorkerId; slot: number }[];
  answerLimitMs?: number;
};
type Scrape = {
  requester: WorkerId;
  requesterScrape: number;
  awaited: Map<WorkerId, number>;
  found: WorkerMetrics[];
  timer: NodeJS.Timeout;
};

/** Collects the metrics of all workers for the one that answers a scrape. */
export function createScrapes({ sendMessage, listServing, answerLimitMs = ANSWER_LIMIT_MS }: ScrapeDeps) {
  const scrapes = new Map<number, Scrape>();
  let scrapeCount = 0;

  function beginScrape(requester: WorkerId, requesterScrape: number): void {
    const scrape = (scrapeCount += 1);
    const scraped = listServing().filter(({ worker }) => sendMessage(worker, { type: 'describe metrics', scrape }));
    const awaited = new Map(scraped.map(({ worker, slot }) => [worker, slot]));
    const timer = setTimeout(() => answerScrape(scrape), answerLimitMs).unref();
    scrapes.set(scrape, { requester, requesterScrape, awaited, found: [], timer });
    if (awaited.size === 0) answerScrape(scrape);
  }

  function answerScrape(scrape: number): void {
    const { requester, requesterScrape, found, timer } = scrapes.get(scrape)!;
    scrapes.delete(scrape);
    clearTimeout(timer);
    const workers = found.toSorted((one, other) => one.slot - other.slot);
    sendMessage(requester, { type: 'metrics of all', scrape: requesterScrape, workers });
  }

  return {
    receive(worker: WorkerId, message: Exclude<ToSupervisor, { type: 'ready' }>): void {
      if (message.type === 'scrape') return beginScrape(worker, message.scrape);
      const scrape = scrapes.get(message.scrape);
      const slot = scrape?.awaited.get(worker);
      if (!scrape || slot === undefined) return;
      scrape.awaited.delete(worker);
      scrape.found.push({ slot, metrics: message.metrics });
      if (scrape.awaited.size === 0) answerScrape(message.scrape);
    },
  };
}

// The messages between the supervisor and its workers over their IPC channels.

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

const hadTerminal = hasTerminal();

/**
 * SIGHUP means "reload" to a service and "the terminal was closed" to a program that was started in one. Windows sends
 * it only when the console is closed.
 */
const hasLostTerminal = (): boolean => process.platform === 'win32' || (hadTerminal && !hasTerminal());

/** Opening the controlling terminal fails for a process without one, and after it was closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Collects the metrics of all workers for the one that answers a scrape. */
import type { ToSupervisor, ToWorker } from './messages.ts';
import type { WorkerMetrics } from './shared-metrics.ts';
import type { WorkerId } from './worker-pool.ts';

/** The scrape leaves out a worker that has not answered in this time, for example because its event loop is blocked. */
const ANSWER_LIMIT_MS = 2_000;

type Deps = {
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

export function createScrapes({ sendMessage, listServing, answerLimitMs = ANSWER_LIMIT_MS }: Deps) {
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

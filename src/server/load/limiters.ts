/** The limiters of one server, by the names under which `/metrics` shows them (docs/operations/overload.md). */
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
  type LimiterState,
  type Limits,
} from './concurrency-limiter.ts';
import { createQuota, type Quota, type Reclaim } from './quota.ts';

export type Limiters = {
  createLimiter(name: string, limits: Limits): ConcurrencyLimiter;
  createQuota(name: string, max: number, reclaim?: Reclaim): Quota;
  /** Counts refusals by neither a queue nor a quota, such as disconnected slow clients. */
  createCounter(name: string): { add(): void };
  /** Shows the figures of a limiter that was created elsewhere. */
  add(name: string, limiter: Pick<ConcurrencyLimiter, 'state'>): void;
  states(): {
    queues: ReadonlyMap<string, LimiterState>;
    quotas: ReadonlyMap<string, ReturnType<Quota['state']>>;
    counters: ReadonlyMap<string, number>;
  };
};

export function createLimiters(): Limiters {
  const queues = new Map<string, Pick<ConcurrencyLimiter, 'state'>>();
  const quotas = new Map<string, Quota>();
  const counters = new Map<string, number>();
  return {
    createLimiter(name, limits) {
      const limiter = createConcurrencyLimiter(limits);
      queues.set(name, limiter);
      return limiter;
    },
    createQuota(name, max, reclaim) {
      const quota = createQuota(max, reclaim);
      quotas.set(name, quota);
      return quota;
    },
    createCounter(name) {
      counters.set(name, 0);
      return { add: () => void counters.set(name, counters.get(name)! + 1) };
    },
    add: (name, limiter) => void queues.set(name, limiter),
    states: () => ({
      queues: new Map([...queues].map(([name, limiter]) => [name, limiter.state()])),
      quotas: new Map([...quotas].map(([name, quota]) => [name, quota.state()])),
      counters: new Map(counters),
    }),
  };
}

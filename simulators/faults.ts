/** A queue of scripted faults. Each fault affects the first requests that it matches. */
import type { ApiRequest } from './host.ts';

/** Which requests a fault affects, and how many. */
type FaultTarget = { method?: string; path?: string; times?: number };

export class FaultQueue<Fault extends FaultTarget> {
  #queue: { fault: Fault; remaining: number; path: RegExp | null }[] = [];

  add(fault: Fault): void {
    const path = fault.path === undefined ? null : new RegExp(fault.path);
    this.#queue.push({ fault, remaining: fault.times ?? 1, path });
  }

  /** Returns the first matching fault and decrements its remaining uses. Returns null if no fault matches. */
  take(request: Pick<ApiRequest, 'method' | 'path'>): Fault | null {
    const entry = this.#queue.find(
      ({ fault, path }) =>
        (fault.method === undefined || fault.method === request.method) && (path === null || path.test(request.path)),
    );
    if (!entry) return null;
    entry.remaining -= 1;
    if (entry.remaining <= 0) this.#queue = this.#queue.filter((other) => other !== entry);
    return entry.fault;
  }

  get pending(): readonly Fault[] {
    return this.#queue.map(({ fault }) => fault);
  }

  clear(): void {
    this.#queue = [];
  }
}

export class HeldRequests {
  readonly #held = new Set<() => void>();
  readonly #listeners = new Set<{ count: number; notify: () => void }>();

  /** Resolves on `release`. Rejects when `signal` aborts. */
  hold(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#held.add(resolve);
      signal?.addEventListener('abort', () => {
        this.#held.delete(resolve);
        reject(signal.reason as Error);
      });
      for (const listener of this.#listeners) {
        if (this.#held.size < listener.count) continue;
        this.#listeners.delete(listener);
        listener.notify();
      }
    });
  }

  /** Returns the number of released requests. */
  release(): number {
    const count = this.#held.size;
    for (const resolve of this.#held) resolve();
    this.#held.clear();
    return count;
  }

  /** Resolves once `count` requests are held. */
  whenHeld(count = 1): Promise<void> {
    if (this.#held.size >= count) return Promise.resolve();
    return new Promise((resolve) => void this.#listeners.add({ count, notify: resolve }));
  }
}

/** The line of scripted faults that a test puts together; each meets the first requests that it fits. */
import type { ApiRequest } from './api-request.ts';

/** What every simulator's faults have: whom they meet, and how often. */
type Aimed = { method?: string; path?: string; times?: number };

export class FaultQueue<Fault extends Aimed> {
  #queue: { fault: Fault; left: number; path: RegExp | null }[] = [];

  add(fault: Fault): void {
    const path = fault.path === undefined ? null : new RegExp(fault.path);
    this.#queue.push({ fault, left: fault.times ?? 1, path });
  }

  /** The first in line that fits, used up once more. */
  take(request: Pick<ApiRequest, 'method' | 'path'>): Fault | null {
    const entry = this.#queue.find(
      ({ fault, path }) =>
        (fault.method === undefined || fault.method === request.method) && (path === null || path.test(request.path)),
    );
    if (!entry) return null;
    entry.left -= 1;
    if (entry.left <= 0) this.#queue = this.#queue.filter((other) => other !== entry);
    return entry.fault;
  }

  get waiting(): readonly Fault[] {
    return this.#queue.map(({ fault }) => fault);
  }

  clear(): void {
    this.#queue = [];
  }
}

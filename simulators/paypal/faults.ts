/** Faults that a test puts in line: each meets the next request that it fits, once, or as often as it says. */
import type { ApiRequest } from './api/api.ts';

export type Fault = {
  /** Any method, when left out. */
  method?: string;
  /** A regular expression over the path, such as `/capture$`; any path, when left out. */
  path?: string;
  /** How many requests it meets; one, when left out. */
  times?: number;
  /** Answers with this status instead of doing the work. */
  status?: number;
  /** And with this issue, in PayPal's shape. */
  issue?: string;
  /** And with a body that is no JSON; without a status the work is done, and only its answer is spoilt. */
  body?: 'html' | 'empty' | 'truncated';
  /** Seconds, for 429 and 503. */
  retryAfter?: number;
  /** The connection breaks before anything was done. */
  drop?: boolean;
  /** The work is done, then the connection breaks: the fault that finds payment bugs. */
  dropAfterWork?: boolean;
  /** The work waits this long. Meanwhile the same request id is in progress. */
  delayMs?: number;
  /** The request waits for `release`, before or after the work. */
  hold?: 'before' | 'after';
};

export class Faults {
  #queue: { fault: Fault; left: number; path: RegExp | null }[] = [];

  add(fault: Fault): void {
    const path = fault.path === undefined ? null : new RegExp(fault.path);
    this.#queue.push({ fault, left: fault.times ?? 1, path });
  }

  /** The first in line that fits, used up once more. */
  take(request: ApiRequest): Fault | null {
    if (this.#queue.length === 0) return null;
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

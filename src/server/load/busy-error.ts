/** The server refuses work for a moment. Every API answers it with 503 and `Retry-After`. */

/**
 * `queue_full`: the client has `maxQueuedPerClient` requests in the queue, or the queue is full and no client has more
 * places than this one would have. `displaced`: a client with fewer queued requests took the place. `timeout`: the work
 * waited too long. `full`: a quota (`quota.ts`) has no more for the client.
 */
export type BusyReason = 'queue_full' | 'displaced' | 'timeout' | 'full';

export class BusyError extends Error {
  readonly reason: BusyReason;

  constructor(reason: BusyReason) {
    super('Too much at once. Please try again in a moment');
    this.name = 'BusyError';
    this.reason = reason;
  }
}

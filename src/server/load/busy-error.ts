/** The server refuses work for a moment. Every API answers it with 503 and `Retry-After`. */

/**
 * `queue_full`: all places are taken, and no client has more of them than this one. `displaced`: a client with fewer
 * queued requests took the place. `timeout`: the work waited too long. `full`: a quota (`quota.ts`) has no more for the
 * client.
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

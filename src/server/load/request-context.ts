/**
 * The request that this asynchronous context works for: the client's network and, once authenticated, the user. The
 * limiters read it to share the server fairly, so no store and no endpoint has to pass it on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Quota } from './quota.ts';

export type RequestContext = {
  /**
   * The client that the work counts for: a network (`networkPrefix`), `server`, `probe`, or for a received mail also a
   * user or a domain.
   */
  readonly address: string;
  /** Null until the request is authenticated, and for signed-out users. */
  userId: string | null;
  wasRefused: boolean;
  /** The quota of memory for large request bodies, in bytes. Null for probes and for work outside of HTTP requests. */
  readonly bodies: Quota | null;
  /** Gives back the memory of the request's body. Null while the request holds none. */
  dropBody: (() => void) | null;
};

/** Work of the server itself, such as jobs: one client among the others. */
const SERVER: Readonly<RequestContext> = Object.freeze(createRequestContext('server'));

/** A key into the asynchronous context. It holds no state itself. */
const requestContexts = new AsyncLocalStorage<RequestContext>();

export function createRequestContext(address: string, bodies: Quota | null = null): RequestContext {
  return { address, userId: null, wasRefused: false, bodies, dropBody: null };
}

export const currentRequestContext = (): Readonly<RequestContext> => requestContexts.getStore() ?? SERVER;

export const runInRequestContext = <Result>(context: RequestContext, work: () => Result): Result =>
  requestContexts.run(context, work);

/** Runs work that a request has triggered but that serves all users, such as an announcement. */
export const runAsServer = <Result>(work: () => Result): Result => requestContexts.exit(work);

/** Names the user of the current request, once a verified token or signature has shown who it is. */
export function identifyUser(userId: string): void {
  const context = requestContexts.getStore();
  if (context) context.userId = userId;
}

/** Marks the current request as refused, so that its answer is delayed (`admission.ts`). */
export function markRefused(): void {
  const context = requestContexts.getStore();
  if (context) context.wasRefused = true;
}

/** Smaller bodies are bounded by the number of connections, and are not counted. */
const SMALL_BODY_BYTES = 16 * 1024;

/**
 * Counts a body of at most `bytes` in memory until its request ends. Throws BusyError. Threat: many clients send the
 * largest bodies that are allowed, at once and slowly.
 */
export function holdBody(bytes: number): void {
  const context = requestContexts.getStore();
  if (!context?.bodies || context.dropBody || bytes <= SMALL_BODY_BYTES) return;
  const { bodies } = context;
  const client = context.userId ?? context.address;
  if (!bodies.take(client, bytes)) {
    context.wasRefused = true;
    throw new BusyError('full');
  }
  context.dropBody = () => bodies.giveBack(client, bytes);
}

/**
 * `queue_full`: the client has `maxQueuedPerClient` requests in the queue, or the queue is full and no client has more
 * places than this one would have. `displaced`: a client with fewer queued requests took the place. `timeout`: the work
 * waited too long. `full`: a quota (`quota.ts`) has no more for the client.
 */
export type BusyReason = 'queue_full' | 'displaced' | 'timeout' | 'full';

/** The server refuses work for a moment. The HTTP APIs answer it with 503 and `Retry-After`. */
export class BusyError extends Error {
  readonly reason: BusyReason;

  constructor(reason: BusyReason) {
    super('Too much at once. Please try again in a moment');
    this.name = 'BusyError';
    this.reason = reason;
  }
}

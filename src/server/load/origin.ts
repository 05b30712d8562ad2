/**
 * Where the work of this asynchronous context comes from: the client's network and, once authenticated, the user. The
 * limiters read it to share the server fairly, so no store and no endpoint has to pass it on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { BusyError } from './busy-error.ts';
import type { Quota } from './quota.ts';

export type Origin = {
  /** From `networkPrefix`: an IPv4 address, or the /64 prefix of an IPv6 address. */
  readonly address: string;
  /** Null until the request is authenticated, and for signed-out users. */
  userId: string | null;
  /** Work of this request was refused. */
  wasRefused: boolean;
  /** The quota of memory for large request bodies, in bytes. Null for probes and the server's own work. */
  readonly bodies: Quota | null;
  /** Gives back the memory of the request's body. Null while the request holds none. */
  dropBody: (() => void) | null;
};

/** Work of the server itself, such as jobs: one client among the others. */
const SERVER: Readonly<Origin> = Object.freeze(createOrigin('server'));

/** A key into the asynchronous context. It holds no state itself. */
const origins = new AsyncLocalStorage<Origin>();

export function createOrigin(address: string, bodies: Quota | null = null): Origin {
  return { address, userId: null, wasRefused: false, bodies, dropBody: null };
}

export const currentOrigin = (): Readonly<Origin> => origins.getStore() ?? SERVER;

export const runAs = <Result>(origin: Origin, work: () => Result): Result => origins.run(origin, work);

/** Runs work that a request has triggered but that serves all users, such as an announcement. */
export const runAsServer = <Result>(work: () => Result): Result => origins.exit(work);

/** Names the user of the current request once the signature of its access token has been verified. */
export function identifyUser(userId: string): void {
  const origin = origins.getStore();
  if (origin) origin.userId = userId;
}

/** Marks the current request as refused, so that its answer is delayed (`admission.ts`). */
export function markRefused(): void {
  const origin = origins.getStore();
  if (origin) origin.wasRefused = true;
}

/** Smaller bodies are bounded by the number of connections, and are not counted. */
const SMALL_BODY_BYTES = 16 * 1024;

/**
 * Counts a body of at most `bytes` in memory until its request ends. Throws BusyError. Threat: many clients send the
 * largest bodies that are allowed, at once and slowly.
 */
export function holdBody(bytes: number): void {
  const origin = origins.getStore();
  if (!origin?.bodies || origin.dropBody || bytes <= SMALL_BODY_BYTES) return;
  const { bodies } = origin;
  const client = origin.userId ?? origin.address;
  if (!bodies.take(client, bytes)) {
    origin.wasRefused = true;
    throw new BusyError('full');
  }
  origin.dropBody = () => bodies.giveBack(client, bytes);
}

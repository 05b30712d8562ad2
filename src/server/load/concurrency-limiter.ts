/**
 * A fair concurrency limiter with a bounded queue. It is work-conserving: a slot stays free only while every queued
 * client runs `maxPerClient`. A free slot goes to the queued client that runs least and was served least, so a client
 * that floods the server takes what the others leave.
 *
 * A request counts for its address and, once authenticated, for its user: many accounts behind one address, and one
 * account behind many addresses, are one client each. If the queue is full, a new request takes the place of the last
 * request of the client that has the most in the queue, unless its own client would then have as many. The limits are
 * those of one process.
 */
import {
  BusyError,
  currentRequestContext,
  markRefused,
  type BusyReason,
  type RequestContext,
} from './request-context.ts';

export type Release = () => void;
type QueueReason = Exclude<BusyReason, 'full'>;

export type LimiterState = {
  readonly running: number;
  readonly queued: number;
  /** Since the start, by reason. */
  readonly refused: Readonly<Record<QueueReason, number>>;
};

export type ConcurrencyLimiter = {
  /** Returns the function that frees the slot, or null if the work has to queue. */
  tryAcquire(context?: Readonly<RequestContext>): Release | null;
  /** Resolves with the function that frees the slot. Throws BusyError. */
  acquire(context?: Readonly<RequestContext>): Promise<Release>;
  /** Throws the BusyError, and counts the refusal, if `acquire` would throw at once. */
  refuseIfFull(context?: Readonly<RequestContext>): void;
  state(): LimiterState;
};

export type Limits = {
  maxRunning: number;
  /** The most requests of one user, or of one address if signed out, that run at once. For costly work. */
  maxPerClient?: number;
  maxQueued: number;
  /** The most requests of one user, or of one address if signed out, in the queue. Further ones are refused. */
  maxQueuedPerClient?: number;
  /** After this time in the queue the work is refused. */
  maxWaitMs?: number;
};

/** Counts the work of an address or a user. Removed from `all` when both counts are zero. */
type Holder = {
  readonly id: string;
  readonly all: Map<string, Holder>;
  running: number;
  queued: number;
  /** Fair queuing: raised by one for each request that begins, and at least the virtual time once the client queues. */
  served: number;
};
type Waiter = {
  readonly address: Holder;
  readonly user: Holder | null;
  start(): void;
  refuse(reason: QueueReason): void;
};

/** Runs `work` in a slot and frees the slot afterwards. */
export async function runLimited<Result>(
  limiter: ConcurrencyLimiter,
  work: () => Promise<Result>,
  context?: Readonly<RequestContext>,
): Promise<Result> {
  const release = limiter.tryAcquire(context) ?? (await limiter.acquire(context));
  try {
    return await work();
  } finally {
    release();
  }
}

export function createConcurrencyLimiter(limits: Limits): ConcurrencyLimiter {
  const { maxRunning, maxQueued, maxPerClient = Infinity, maxQueuedPerClient = Infinity, maxWaitMs } = limits;
  const addresses = new Map<string, Holder>();
  const users = new Map<string, Holder>();
  const refused = { queue_full: 0, displaced: 0, timeout: 0 };
  /** In the order of arrival. Invariant: while a slot is free, the client of each waiter runs `maxPerClient`. */
  const queue: Waiter[] = [];
  let running = 0;
  /** The largest `served` with which a client began a request. */
  let virtualTime = 0;

  function occupy(address: Holder, user: Holder | null): Release {
    virtualTime = Math.max(virtualTime, servedOf(address, user));
    running += 1;
    address.running += 1;
    address.served += 1;
    if (user) {
      user.running += 1;
      user.served += 1;
    }
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      running -= 1;
      address.running -= 1;
      if (user) user.running -= 1;
      forgetIdle(address);
      if (user) forgetIdle(user);
      if (queue.length > 0) startQueued();
    };
  }

  const servedOf = (address: Holder, user: Holder | null): number => Math.max(address.served, user?.served ?? 0);

  const mayRun = (address: Holder, user: Holder | null): boolean => (user ?? address).running < maxPerClient;

  function startQueued(): void {
    while (running < maxRunning) {
      const next = findNext();
      if (next === -1) return;
      removeWaiter(next).start();
    }
  }

  /**
   * The fairness rule: the index of the waiter whose address or user, whichever runs more, runs least. Ties go to the
   * user that runs least, so that colleagues behind one address share its part, then to the client that was served
   * least. The last rule makes clients take turns when there are more of them than slots: otherwise the order of
   * arrival would decide, and a flood would be served first. -1 if no waiter may run.
   */
  function findNext(): number {
    let best = -1;
    let [load, ofClient, served, servedClient] = [0, 0, 0, 0];
    // Creates no object for a waiter, because the loop runs over the whole queue for each waiter that begins.
    for (let index = 0; index < queue.length; index += 1) {
      const { address, user } = queue[index]!;
      if (!mayRun(address, user)) continue;
      const client = user ?? address;
      const nextLoad = Math.max(address.running, client.running);
      const nextServed = servedOf(address, user);
      const difference =
        nextLoad - load || client.running - ofClient || nextServed - served || client.served - servedClient;
      if (best !== -1 && difference >= 0) continue;
      [best, load, ofClient, served, servedClient] = [index, nextLoad, client.running, nextServed, client.served];
    }
    return best;
  }

  function removeWaiter(index: number): Waiter {
    const waiter = queue.splice(index, 1)[0]!;
    const { address, user } = waiter;
    address.queued -= 1;
    if (user) user.queued -= 1;
    return waiter;
  }

  /** Returns null if a new waiter is refused, -1 if the queue has room, otherwise the index of the waiter to displace. */
  function findPlace(address: Holder | undefined, user: Holder | null | undefined): number | null {
    const queuedByClient = Math.max(address?.queued ?? 0, user?.queued ?? 0);
    if (((user === null ? address : user)?.queued ?? 0) >= maxQueuedPerClient) return null;
    if (queue.length < maxQueued) return -1;
    let most = queuedByClient + 1;
    let last: number | null = null;
    for (let index = queue.length - 1; index >= 0; index -= 1) {
      const waiter = queue[index]!;
      const queued = Math.max(waiter.address.queued, waiter.user?.queued ?? 0);
      if (queued > most) [most, last] = [queued, index];
    }
    return last;
  }

  function enqueue(address: Holder, user: Holder | null, place: number): Promise<Release> {
    // Counted before `refuseQueued` displaces a waiter, because that deletes holders without work.
    for (const holder of user ? [address, user] : [address]) {
      // A client that begins to queue gets no credit for the time in which it asked for nothing.
      if (holder.queued === 0) holder.served = Math.max(holder.served, virtualTime);
      holder.queued += 1;
    }
    if (place !== -1) refuseQueued(place, 'displaced');
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiter: Waiter = {
        address,
        user,
        start() {
          clearTimeout(timer);
          resolve(occupy(address, user));
        },
        refuse(reason) {
          clearTimeout(timer);
          reject(refuse(reason));
        },
      };
      queue.push(waiter);
      if (maxWaitMs === undefined) return;
      timer = setTimeout(() => refuseQueued(queue.indexOf(waiter), 'timeout'), maxWaitMs).unref();
    });
  }

  function refuseQueued(index: number, reason: QueueReason): void {
    const { address, user, refuse: reject } = removeWaiter(index);
    reject(reason);
    forgetIdle(address);
    if (user) forgetIdle(user);
  }

  function refuse(reason: QueueReason): BusyError {
    refused[reason] += 1;
    return new BusyError(reason);
  }

  return {
    tryAcquire({ address, userId } = currentRequestContext()) {
      if (running >= maxRunning) return null;
      const ofAddress = findOrAdd(addresses, address);
      const ofUser = userId === null ? null : findOrAdd(users, userId);
      if (mayRun(ofAddress, ofUser)) return occupy(ofAddress, ofUser);
      forgetIdle(ofAddress);
      return null;
    },
    async acquire(context = currentRequestContext()) {
      const release = this.tryAcquire(context);
      if (release) return release;
      const { address, userId } = context;
      const ofAddress = findOrAdd(addresses, address);
      const ofUser = userId === null ? null : findOrAdd(users, userId);
      const place = findPlace(ofAddress, ofUser);
      try {
        if (place !== null) return await enqueue(ofAddress, ofUser, place);
        forgetIdle(ofAddress);
        if (ofUser) forgetIdle(ofUser);
        throw refuse('queue_full');
      } catch (error) {
        markRefused();
        throw error;
      }
    },
    refuseIfFull({ address, userId } = currentRequestContext()) {
      if (queue.length < maxQueued && maxQueuedPerClient === Infinity) return;
      const place = findPlace(addresses.get(address), userId === null ? null : users.get(userId));
      if (place === null) throw refuse('queue_full');
    },
    state: () => ({ running, queued: queue.length, refused: { ...refused } }),
  };
}

function findOrAdd(all: Map<string, Holder>, id: string): Holder {
  const known = all.get(id);
  if (known) return known;
  const holder: Holder = { id, all, running: 0, queued: 0, served: 0 };
  all.set(id, holder);
  return holder;
}

function forgetIdle({ id, all, running, queued }: Holder): void {
  if (running === 0 && queued === 0) all.delete(id);
}

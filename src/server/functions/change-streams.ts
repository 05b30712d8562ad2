/**
 * Tells signed-in browsers which days of their user have changed (docs/specification/live.md). One connection of this
 * process follows the changes of all users; a stream receives those of its own user.
 */
import { randomBytes } from 'node:crypto';
import { earliestCurrentDay } from '#domain/day/day.ts';
import type { DayChange, LiveEvent, StreamEndReason } from '#domain/live-event.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { AccessTokenError } from '../auth/keys/access-tokens.ts';
import type { Clock } from '../clock.ts';
import type { EntryChange } from '../database/changes/change-listener.ts';
import type { Database } from '../database/database.ts';
import type { Caller } from '../http/authenticate.ts';
import { runLimited, type Limits } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { currentRequestContext, markRefused } from '../load/request-context.ts';
import type { Logger } from '../log.ts';
import { NO_EVENTS, type EventCounters } from '../metrics/events.ts';
import { isCallerPremium } from '../plans/change-plan.ts';

/** The most streams of a user in one process. A browser opens one. */
export const MAX_STREAMS_PER_USER = 10;
const MAX_STREAMS = 4_000;
/** After a lost connection to the database, all streams check their sessions: a few at a time, so that saves go first. */
const CHECKS: Limits = { maxRunning: 4, maxQueued: MAX_STREAMS };
/** A stream with more unsent changes than this, for example after an import, gets one `resync` instead. */
const MAX_WAITING = 100;
/** How often a stream checks its session while nothing changes. */
const RECHECK_MS = 30_000;

export type StreamEvent = LiveEvent & { id?: string };

type StreamRequest = {
  userId: string;
  lastEventId: string | undefined;
  /** Authenticates the request again. Throws an AccessTokenError if its token or session has ended. */
  authenticate: () => Promise<Caller>;
};

export type ChangeStreams = {
  start(): void;
  /** Returns null if the server is stopping, or if the server or this address has as many streams as it may hold. */
  open(request: StreamRequest): ((disconnected: AbortSignal) => AsyncGenerator<StreamEvent>) | null;
  /** The number of open streams. */
  size(): number;
  /** Ends all streams, so that the server can stop. */
  stop(): Promise<void>;
};

/**
 * An event on its way to a client. Its id is taken when the change arrives. An id taken when the event is sent would be
 * newer than changes that still wait behind it, and a client that reconnected with that id would miss those changes.
 */
type Delivery = { event: EntryChange | 'ready' | 'resync'; id: string | undefined };
type Subscription = {
  userId: string;
  address: string;
  waiting: Delivery[];
  ended: StreamEndReason | null;
  wake: () => void;
};

type Deps = {
  database: Database;
  clock: Clock;
  limiters: Limiters;
  log: Logger;
  events?: Pick<EventCounters, 'announcement'>;
};

export function createChangeStreams({ database, clock, limiters, log, events = NO_EVENTS }: Deps): ChangeStreams {
  const streams = limiters.createQuota('streams', MAX_STREAMS, reclaim);
  const checks = limiters.createLimiter('stream_checks', CHECKS);
  const history = createChangeHistory(() => performance.now());
  /** The subscriptions of each user, the oldest first. */
  const byUser = new Map<string, Set<Subscription>>();
  let stopListening: (() => Promise<void>) | null = null;
  let isStopped = false;

  const allSubscriptions = (): Subscription[] => [...byUser.values()].flatMap((subscriptions) => [...subscriptions]);

  const resync = (): Delivery => ({ event: 'resync', id: history.eventId() });

  function deliver(subscription: Subscription, delivery: Delivery): void {
    if (delivery.event === 'resync') subscription.waiting = [delivery];
    else if (subscription.waiting.length >= MAX_WAITING) subscription.waiting = [resync()];
    else subscription.waiting.push(delivery);
    subscription.wake();
  }

  function end(subscription: Subscription, reason: StreamEndReason): void {
    subscription.ended ??= reason;
    subscription.wake();
  }

  function subscribe(userId: string, address: string): Subscription {
    const subscription: Subscription = { userId, address, waiting: [], ended: null, wake: () => undefined };
    const subscriptions = byUser.get(userId) ?? new Set();
    byUser.set(userId, subscriptions.add(subscription));
    // The oldest is the most likely to be left over from a phone that has lost its network.
    const living = [...subscriptions].filter(({ ended }) => ended === null);
    if (living.length > MAX_STREAMS_PER_USER) end(living[0]!, 'too_many');
    return subscription;
  }

  function unsubscribe(subscription: Subscription): void {
    const subscriptions = byUser.get(subscription.userId);
    if (!subscriptions?.delete(subscription)) return;
    streams.giveBack(subscription.address);
    if (subscriptions.size === 0) byUser.delete(subscription.userId);
  }

  /** Ends the oldest stream of the user with the most streams from this address. Its browser polls meanwhile. */
  function reclaim(address: string): void {
    let most: Subscription[] = [];
    for (const subscriptions of byUser.values()) {
      const own = [...subscriptions].filter((subscription) => subscription.address === address);
      if (own.length > most.length) most = own;
    }
    end(most[0]!, 'unavailable');
    unsubscribe(most[0]!);
  }

  /** Resolves when the subscription has something to send, ends or is due for a check of its session. */
  function untilDue(subscription: Subscription, disconnected: AbortSignal): Promise<void> {
    if (subscription.waiting.length > 0 || subscription.ended !== null || disconnected.aborted)
      return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(done, RECHECK_MS);
      disconnected.addEventListener('abort', done, { once: true });
      subscription.wake = done;
      function done(): void {
        clearTimeout(timer);
        disconnected.removeEventListener('abort', done);
        subscription.wake = () => undefined;
        resolve();
      }
    });
  }

  /**
   * Leaves out row and revision if the user's plan locks the day: of a locked day, a user learns no more than its date,
   * as from `entry_dates`.
   */
  async function describeChange({ date, id, revision }: EntryChange, caller: Caller): Promise<DayChange> {
    if (revision === null) return { date, stored: false };
    const isOpen =
      !isLocked(date, false, earliestCurrentDay(clock.now())) || (await isCallerPremium(database, caller.identity));
    return isOpen ? { date, stored: true, id, revision } : { date, stored: true };
  }

  async function* send(
    subscription: Subscription,
    { authenticate }: StreamRequest,
    disconnected: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    try {
      for (;;) {
        await untilDue(subscription, disconnected);
        if (disconnected.aborted) return;
        if (subscription.ended) return yield { event: 'end', data: { reason: subscription.ended } };
        const deliveries = subscription.waiting;
        subscription.waiting = [];
        // A session known as ended receives nothing more, not even a change that was made before it ended. Another
        // process may end one up to 30 s before this one knows (docs/specification/accounts.md 4).
        const caller = await runLimited(checks, authenticate);
        for (const { event, id } of deliveries) {
          const described: LiveEvent =
            typeof event === 'string'
              ? { event, data: {} }
              : { event: 'change', data: await describeChange(event, caller) };
          yield id === undefined ? described : { ...described, id };
        }
      }
    } catch (error) {
      if (!(error instanceof AccessTokenError)) log.warn({ reason: String(error) }, 'a stream of changes failed');
      yield { event: 'end', data: { reason: error instanceof AccessTokenError ? 'session' : 'unavailable' } };
    } finally {
      unsubscribe(subscription);
    }
  }

  return {
    start() {
      stopListening ??= database.listenToChanges({
        onChange(change) {
          events.announcement('change');
          history.add(change.userId, change);
          const delivery = { event: change, id: history.eventId() };
          for (const subscription of byUser.get(change.userId) ?? []) deliver(subscription, delivery);
        },
        onGap(userId) {
          events.announcement('gap');
          if (userId === null) history.begin();
          else history.add(userId, null);
          const affected = userId === null ? allSubscriptions() : (byUser.get(userId) ?? []);
          for (const subscription of affected) deliver(subscription, resync());
        },
      });
    },

    open(request) {
      const { address } = currentRequestContext();
      if (isStopped) return null;
      if (!streams.take(address)) {
        markRefused();
        return null;
      }
      const { userId, lastEventId } = request;
      const missed = history.changesSince(lastEventId, userId);
      const subscription = subscribe(userId, address);
      if (!missed || missed.length >= MAX_WAITING) deliver(subscription, resync());
      else {
        // Without ids: a client that loses the connection before `ready` gets all missed changes again.
        for (const change of missed) deliver(subscription, { event: change, id: undefined });
        deliver(subscription, { event: 'ready', id: history.eventId() });
      }
      return (disconnected) => send(subscription, request, disconnected);
    },

    size: () => streams.state().taken,

    async stop() {
      isStopped = true;
      for (const subscription of allSubscriptions()) end(subscription, 'unavailable');
      await stopListening?.();
    },
  };
}

// The latest changes of all users, for clients that connect again with a `Last-Event-ID`.
//
// An event id is `EPOCH.MILLISECONDS`. A new random epoch begins when changes of any user may have been missed, as with
// each new connection that listens for changes. An id of another process, or of a time before such a gap, is recognised
// by its epoch. The milliseconds since the epoch began order the events and, unlike a counter, do not reveal how much
// other users write.

const MAX_CHANGES = 5_000;
const EVENT_ID = /^([\w-]{8})\.(\d{1,15})$/;

/** @param now monotonic, in milliseconds */
export function createChangeHistory(now: () => number, maxChanges = MAX_CHANGES) {
  let epoch = '';
  let begunAt = 0;
  /** `change` is null for changes of the user that are not known. */
  let changes: { at: number; userId: string; change: EntryChange | null }[] = [];
  /** The time of the newest change that was dropped. An event of the same millisecond may have been dropped as well. */
  let droppedAt = -1;

  const elapsed = (): number => Math.floor(now() - begunAt);

  return {
    /** Forgets all changes and begins a new epoch. Called when changes of any user may have been missed. */
    begin(): void {
      epoch = randomBytes(6).toString('base64url');
      begunAt = now();
      changes = [];
      droppedAt = -1;
    },

    /** `change`: null if the user's changes may have been missed. */
    add(userId: string, change: EntryChange | null): void {
      changes.push({ at: elapsed(), userId, change });
      if (changes.length <= maxChanges) return;
      // Drop a tenth at a time: dropping one would move the whole array at each change.
      const dropped = changes.splice(0, Math.ceil(maxChanges / 10));
      droppedAt = dropped.at(-1)!.at;
    },

    /** The id of a change that arrives now. */
    eventId: (): string => `${epoch}.${elapsed()}`,

    /**
     * The user's changes since the event, possibly with some that the client has seen already. Null if some of them may
     * be unknown here. Threat: a forged id; it selects among this user's own changes only.
     */
    changesSince(eventId: string | undefined, userId: string): EntryChange[] | null {
      const [, ofEpoch, milliseconds] = EVENT_ID.exec(eventId ?? '') ?? [];
      const since = Number(milliseconds);
      if (epoch === '' || ofEpoch !== epoch || since <= droppedAt || since > elapsed()) return null;
      const changesOfUser = changes
        .filter((entry) => entry.at >= since && entry.userId === userId)
        .map(({ change }) => change);
      return changesOfUser.every((change) => change !== null) ? changesOfUser : null;
    },
  };
}

/**
 * Drives the state machine of the stream (visibility, the lock that elects one tab of this browser, the channel to the
 * other tabs, the connection), and applies changes from elsewhere to the page.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { DayChange, LiveEvent } from '#domain/live-event.ts';
import { isDay, type Day } from '#domain/day/day.ts';
import { eventStreamOf, readEvents, type StreamEvent } from '#client/lib/api/event-stream.ts';
import { fetchAsUser, type Supabase } from '#client/lib/api/supabase.ts';
import type { Timers } from '../day-saver/day-saver.ts';
import { initialLiveState, reduceLive, type IdentifiedEvent, type LiveEffect, type LiveInput } from './live-state.ts';
import type { DaySavers } from '../day-savers.ts';
import {
  DATES_KEY,
  invalidateEntryCache,
  setDateStored,
  ENTRY_KEY,
  entryKey,
  isUnreachableError,
} from '../entries/entry-queries.ts';
import type { StoredLog } from '../save-requests.ts';
import type { LocalCopies } from '../store/local-copies.ts';

type LiveSyncOptions = {
  userId: string;
  ask: Supabase['ask'];
  timers: Timers;
  applyChange: (change: DayChange) => void;
  catchUp: () => void;
};

/** Starts the connection if the page is visible. Returns a function that ends it. */
export function startLiveSync({ userId, ask, timers, applyChange, catchUp }: LiveSyncOptions): () => void {
  // Threat: another tab of this browser belongs to another user. The names contain the user's id, so the tabs of two
  // users share neither the lock nor the messages.
  const name = `hustle-forge:live:${userId}`;
  const channel = new BroadcastChannel(name);
  let state = initialLiveState;
  let stopTimer = (): void => undefined;
  let connection: AbortController | null = null;
  let lock: AbortController | null = null;

  function dispatch(input: LiveInput): void {
    const next = reduceLive(state, input, { now: timers.now(), random: Math.random() });
    state = next.state;
    next.effects.forEach(run);
  }

  function run(effect: LiveEffect): void {
    switch (effect.type) {
      case 'requestLock':
        return requestLock();
      case 'releaseLock':
        return lock?.abort();
      case 'connect':
        return connect(effect.lastEventId);
      case 'disconnect':
        return connection?.abort();
      case 'setTimer':
        stopTimer();
        if (effect.at !== null) {
          const delayMs = Math.max(0, effect.at - timers.now());
          stopTimer = timers.after(delayMs, () => dispatch({ type: 'timerElapsed' }));
        }
        return;
      case 'catchUp':
        return catchUp();
      case 'applyChange':
        return applyChange(effect.change);
      case 'share':
        return channel.postMessage({ event: effect.event, id: effect.id } satisfies IdentifiedEvent);
    }
  }

  function requestLock(): void {
    const request = new AbortController();
    lock = request;
    const { signal } = request;
    const holdLock = (): Promise<void> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', () => resolve());
        dispatch({ type: 'lockAcquired' });
      });
    // Browsers offer locks on https and localhost only. Elsewhere each visible tab has a connection of its own.
    if (!('locks' in navigator)) return void holdLock();
    void navigator.locks
      .request(name, { ifAvailable: true }, async (available) => {
        if (available) return holdLock();
        if (!signal.aborted) dispatch({ type: 'lockBusy' });
        // Not awaited: this callback holds no lock, and the queued request may wait for hours.
        navigator.locks.request(name, { signal }, holdLock).catch(() => undefined);
      })
      .catch(() => undefined);
  }

  function connect(lastEventId: string | null): void {
    const current = new AbortController();
    connection = current;
    const { signal } = current;
    const dispatchIfCurrent = (input: LiveInput): void => {
      if (!signal.aborted) dispatch(input);
    };
    void followChanges({
      userId,
      ask,
      lastEventId,
      signal,
      onBytes: () => dispatchIfCurrent({ type: 'bytesReceived' }),
      onEvent: (event) => dispatchIfCurrent({ type: 'eventReceived', ...event }),
    }).then((outcome) => {
      const { kind } = outcome;
      dispatchIfCurrent(
        kind === 'closed'
          ? { type: 'streamClosed' }
          : { type: 'streamRefused', status: outcome.status, retryAfterMs: outcome.retryAfterMs },
      );
      current.abort();
    });
  }

  const onVisibility = (): void =>
    dispatch({ type: document.visibilityState === 'hidden' ? 'pageHidden' : 'pageShown' });
  const onOnline = (): void => dispatch({ type: 'networkReturned' });
  channel.addEventListener('message', ({ data }: MessageEvent<IdentifiedEvent>) =>
    dispatch({ type: 'eventShared', ...data }),
  );
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onOnline);
  onVisibility();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onOnline);
    dispatch({ type: 'pageHidden' });
    channel.close();
  };
}

type StreamOutcome = { kind: 'closed' } | { kind: 'refused'; status: number; retryAfterMs: number };

type StreamOptions = {
  userId: string;
  ask: Supabase['ask'];
  lastEventId: string | null;
  signal: AbortSignal;
  onBytes: () => void;
  onEvent: (event: IdentifiedEvent) => void;
};

/**
 * Reads the stream of changes (docs/specification/live.md 1). Resolves when it has ended, for whatever reason. Never
 * rejects.
 */
async function followChanges({
  userId,
  ask,
  lastEventId,
  signal,
  onBytes,
  onEvent,
}: StreamOptions): Promise<StreamOutcome> {
  try {
    const headers = { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) };
    const base = fetchAsUser(userId, fetch);
    const response = await ask('/functions/v1/changes', { headers, signal, cache: 'no-store', base });
    const stream = eventStreamOf(response);
    if (!stream) {
      const seconds = Number(response.headers.get('retry-after') ?? 0);
      // A server or proxy that does not know this address may answer with an HTML page and status 200.
      const status = response.ok ? 404 : response.status;
      return { kind: 'refused', status, retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : 0 };
    }
    for await (const received of readEvents(stream, onBytes)) {
      const event = toLiveEvent(received);
      if (event) onEvent({ event, id: received.id ?? null });
    }
    return { kind: 'closed' };
  } catch {
    return { kind: 'closed' };
  }
}

/** Null for an event of a newer server, or one that cannot be read. */
function toLiveEvent({ event, data }: StreamEvent): LiveEvent | null {
  try {
    const value = JSON.parse(data) as { date?: unknown; stored?: unknown };
    if (event === 'ready' || event === 'resync' || event === 'end') return { event, data: value } as LiveEvent;
    if (event !== 'change' || !isDay(value.date) || typeof value.stored !== 'boolean') return null;
    return { event, data: value } as LiveEvent;
  } catch {
    return null;
  }
}

/** The wait until a day is read again whose read got no answer, or was not shown because a word is being composed. */
const RECHECK_MS = 1_000;
const MAX_RECHECKS = 5;

type Deps = { savers: DaySavers; copies: Pick<LocalCopies, 'storeCopy'>; queries: QueryClient; timers: Timers };

/**
 * Applies changes that were made elsewhere: reads the open day again through its query, and updates the dates of the
 * calendar without a request. A change made by this page is known already and causes no request.
 */
export function createRemoteChanges({ savers, copies, queries, timers }: Deps) {
  /** The newest change of each day that waits for the day's own save. */
  const waiting = new Map<Day, DayChange>();
  const unsubscribe = savers.subscribe(() => {
    for (const date of waiting.keys()) refetchUnlessKnown(date);
  });
  let isClosed = false;
  let catchUps = 0;

  function refetchUnlessKnown(date: Day): void {
    const change = waiting.get(date);
    // The save in flight shows whether the change is this page's own. Unsaved text is compared when it is sent.
    if (!change || savers.getUnsaved(date)) return;
    waiting.delete(date);
    setDateStored(queries, copies, date, change.stored);
    const saver = savers.get(date);
    // During a read the shown log proves nothing: it may be a copy on this device, and the server may have answered the
    // read before the change.
    const isReading = queries.isFetching({ queryKey: entryKey(date) }) > 0;
    if (saver && !isReading && isKnown(saver.view().stored, change)) return;
    invalidateEntryCache(queries);
    void readAgain(change, 0);
  }

  async function readAgain(change: DayChange, rechecks: number): Promise<void> {
    const { date } = change;
    await queries.invalidateQueries({ queryKey: entryKey(date) });
    const isShown =
      queries
        .getQueryCache()
        .find({ queryKey: entryKey(date) })
        ?.isActive() === true;
    if (!isShown || rechecks === MAX_RECHECKS) return;
    recheck(change, rechecks);
  }

  function recheck(change: DayChange, rechecks: number): void {
    timers.after(RECHECK_MS, () => {
      const saver = savers.get(change.date);
      if (isClosed || !saver || saver.view().unsaved || isKnown(saver.view().stored, change)) return;
      // On a phone a word may stay composed for hours, so wait for its end without a request.
      if (saver.isComposing()) recheck(change, rechecks);
      else void readAgain(change, rechecks + 1);
    });
  }

  /** Repeats reads without an answer: no event names the missed changes, so the day would keep showing its old text. */
  async function readOpenDays(catchUp: number, rechecks: number): Promise<void> {
    await queries.invalidateQueries({ queryKey: ENTRY_KEY });
    const open = queries.getQueryCache().findAll({ queryKey: ENTRY_KEY, type: 'active' });
    if (rechecks === MAX_RECHECKS || !open.some(({ state }) => isUnreachableError(state.error))) return;
    timers.after(RECHECK_MS, () => {
      if (!isClosed && catchUp === catchUps) void readOpenDays(catchUp, rechecks + 1);
    });
  }

  return {
    apply(change: DayChange): void {
      waiting.set(change.date, change);
      refetchUnlessKnown(change.date);
    },

    /** Reads everything again that is on screen. The rest is read when it is opened. */
    catchUp(): void {
      catchUps += 1;
      void readOpenDays(catchUps, 0);
      void queries.invalidateQueries({ queryKey: DATES_KEY });
      invalidateEntryCache(queries);
    },

    close(): void {
      isClosed = true;
      unsubscribe();
    },
  };
}

/** True if the page has this version of the day, or a newer one of the same row. */
function isKnown(stored: StoredLog | null, { stored: hasLog, id, revision }: DayChange): boolean {
  if (!hasLog) return stored === null;
  return stored !== null && revision !== undefined && stored.id === id && stored.revision >= revision;
}

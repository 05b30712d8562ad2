/**
 * Drives the state machine of the stream: visibility, the lock that elects one tab of this browser, the channel to the
 * other tabs, and the connection.
 */
import type { DayChange } from '#domain/live/live-event.ts';
import type { Timers } from '../day-saver/day-saver.ts';
import { followChanges } from './change-stream.ts';
import { initialLiveState, reduceLive, type IdentifiedEvent, type LiveEffect, type LiveInput } from './live-state.ts';

export type LiveSyncOptions = {
  userId: string;
  url: string;
  send: typeof fetch;
  timers: Timers;
  applyChange: (change: DayChange) => void;
  catchUp: () => void;
};

/** Starts the connection if the page is visible. Returns a function that ends it. */
export function startLiveSync({ userId, url, send, timers, applyChange, catchUp }: LiveSyncOptions): () => void {
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
      send,
      url,
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

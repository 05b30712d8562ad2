/**
 * Re-reads a value that depends on the time: on focus, when the tab is shown, and every 15 seconds while the tab is
 * visible.
 */
import { useSyncExternalStore } from 'react';
import { dayOf, type Day } from '#domain/day/day.ts';
import { localToday } from '../session/browser-preferences.ts';

/** The heartbeat alone is not enough: a sleeping machine stops timers, so focus and visibility changes update too. */
const HEARTBEAT_MS = 15_000;

/** Runs no timer while the tab is hidden. */
export function subscribeToClock(listener: () => void, page: Document = document, view: EventTarget = window) {
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const restart = (): void => {
    clearInterval(heartbeat);
    if (!page.hidden) heartbeat = setInterval(listener, HEARTBEAT_MS);
  };
  const onVisibility = (): void => {
    restart();
    listener();
  };
  restart();
  view.addEventListener('focus', listener);
  page.addEventListener('visibilitychange', onVisibility);
  return () => {
    clearInterval(heartbeat);
    view.removeEventListener('focus', listener);
    page.removeEventListener('visibilitychange', onVisibility);
  };
}

const subscribe = (listener: () => void) => subscribeToClock(listener);

/** `read` returns the current value. The component re-renders only when the value changes. */
export const useClock = <Value extends string>(read: () => Value): Value => useSyncExternalStore(subscribe, read);

/** The user's current day. It changes while the tab is open, at midnight or at 03:00 (`localToday`). */
export const useToday = (): Day => useClock(() => localToday());

/** The date on the user's clock. Plans end at midnight, whenever the user's days end. */
export const useDate = (): Day => useClock(() => dayOf(new Date()));

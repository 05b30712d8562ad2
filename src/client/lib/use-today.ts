/** The day on the user's wall, looked at again whenever the page is: a tab open past midnight must not stay in yesterday. */
import { useSyncExternalStore } from 'react';
import { dayOf } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';

/** A sleeping machine stops timers, so focus and visibility ask as well. */
const HEARTBEAT_MS = 15_000;

function subscribe(listener: () => void): () => void {
  const heartbeat = setInterval(listener, HEARTBEAT_MS);
  addEventListener('focus', listener);
  document.addEventListener('visibilitychange', listener);
  return () => {
    clearInterval(heartbeat);
    removeEventListener('focus', listener);
    document.removeEventListener('visibilitychange', listener);
  };
}

export const useToday = (): Day => useSyncExternalStore(subscribe, () => dayOf(new Date()));

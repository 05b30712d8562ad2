/** What a screen says of the time, looked at again whenever the page is, and while it is looked at. */
import { useSyncExternalStore } from 'react';

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

/** `read` answers what is said now. Only another answer draws the component anew, not each beat. */
export const useClock = <Words extends string>(read: () => Words): Words => useSyncExternalStore(subscribe, read);

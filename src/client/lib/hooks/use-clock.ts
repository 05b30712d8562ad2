/** What a screen says of the time: read again on focus, when the tab is shown, and every few seconds while it is visible. */
import { useSyncExternalStore } from 'react';

/** A sleeping machine stops timers, so focus and visibility read the clock as well. */
const HEARTBEAT_MS = 15_000;

/** A hidden tab has no timer: what nobody sees needs no clock. */
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

/** `read` answers what is said now. Only another answer renders the component again, not each beat. */
export const useClock = <Words extends string>(read: () => Words): Words => useSyncExternalStore(subscribe, read);

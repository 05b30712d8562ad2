/**
 * The clock of one schedule. Time passes only in `advance`, which runs each timer when it is due and then waits until
 * all real work is done, such as a request to the server. So the same schedule takes the same course.
 */
import type { RealWork } from './real-work.ts';

export type VirtualTimer = { readonly at: number; readonly order: number; readonly run: () => void; owner: unknown };

export type VirtualClock = ReturnType<typeof createVirtualClock>;
/** The clock of a tab, which also can be the real one. */
export type TabClock = Omit<VirtualClock, 'advance'>;

export function createVirtualClock(start: number, work: RealWork) {
  let now = start;
  let order = 0;
  let timers: VirtualTimer[] = [];

  function takeNext(end: number): VirtualTimer | null {
    let next: VirtualTimer | null = null;
    for (const timer of timers) {
      if (timer.at <= end && (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)))
        next = timer;
    }
    if (next) timers.splice(timers.indexOf(next), 1);
    return next;
  }

  return {
    now: () => now,

    /** `owner`: see `cancelAll`. */
    schedule(ms: number, run: () => void, owner: unknown = null): VirtualTimer {
      const timer = { at: now + Math.max(0, ms), order: (order += 1), run, owner };
      timers.push(timer);
      return timer;
    },

    cancel(timer: VirtualTimer): void {
      timers = timers.filter((other) => other !== timer);
    },

    cancelAll(owner: unknown): void {
      timers = timers.filter((timer) => timer.owner !== owner);
    },

    delay(ms: number): Promise<void> {
      return new Promise((resolve) => void this.schedule(ms, resolve));
    },

    async advance(ms: number): Promise<void> {
      const end = now + ms;
      await work.whenIdle();
      for (let next = takeNext(end); next; next = takeNext(end)) {
        now = Math.max(now, next.at);
        next.run();
        await work.whenIdle();
      }
      now = end;
    },
  };
}

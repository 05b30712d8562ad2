/** A clock for simulated tabs on which time passes by itself. */
import type { TabClock, VirtualTimer } from '../world/browser/virtual-clock.ts';

// Node's own globals: `installRealms` replaces them for the code of a tab.
const { setTimeout: setForReal, clearTimeout: clearForReal, Date: RealDate } = globalThis;

export function createRealClock(): TabClock {
  let order = 0;
  const running = new Map<VirtualTimer, NodeJS.Timeout>();

  function cancel(timer: VirtualTimer): void {
    clearForReal(running.get(timer));
    running.delete(timer);
  }

  return {
    now: () => RealDate.now(),

    schedule(ms, run, owner = null) {
      const timer = { at: RealDate.now() + Math.max(0, ms), order: (order += 1), run, owner };
      const start = (): void => {
        running.delete(timer);
        run();
      };
      running.set(timer, setForReal(start, Math.max(0, ms)));
      return timer;
    },

    cancel,

    cancelAll(owner) {
      for (const timer of running.keys()) if (timer.owner === owner) cancel(timer);
    },

    delay: (ms) => new Promise((resolve) => void setForReal(resolve, ms)),
  };
}

/** Tracks the work of one schedule that takes real time, because the virtual clock stands still during such work. */
import { AsyncLocalStorage } from 'node:async_hooks';

const setImmediateForReal = globalThis.setImmediate;

export type RealWork = ReturnType<typeof createRealWork>;

const current = new AsyncLocalStorage<RealWork>();

export function createRealWork() {
  let tasks = 0;
  let requests = 0;
  let onRequestsDone = (): void => {};
  const work = {
    /** Runs code whose IndexedDB tasks are counted as work. */
    run: <T>(run: () => T): T => current.run(work, run),

    addTask: (): void => void (tasks += 1),
    removeTask: (): void => void (tasks -= 1),

    /** Keeps the virtual clock from advancing until the promise is settled. */
    async track<T>(promise: Promise<T>): Promise<T> {
      requests += 1;
      try {
        return await promise;
      } finally {
        requests -= 1;
        if (requests === 0) onRequestsDone();
      }
    },

    /** Resolves once no work and no callback of a settled promise is left. */
    async whenIdle(): Promise<void> {
      do {
        if (requests > 0) await new Promise<void>((resolve) => (onRequestsDone = resolve));
        await new Promise((resolve) => setImmediateForReal(resolve));
      } while (tasks > 0 || requests > 0);
    },
  };
  return work;
}

/** Counts the tasks of IndexedDB: fake-indexeddb calls `globalThis.setImmediate`. Returns a function that stops it. */
export function countTasks(): () => void {
  globalThis.setImmediate = ((run: (...args: unknown[]) => void, ...args: unknown[]) => {
    const work = current.getStore();
    work?.addTask();
    return setImmediateForReal(() => {
      work?.removeTask();
      run(...args);
    });
  }) as typeof setImmediate;
  return () => void (globalThis.setImmediate = setImmediateForReal);
}

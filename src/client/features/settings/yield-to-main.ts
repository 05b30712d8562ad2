const MAX_SLICE_MS = 12;

/** Yields to the main thread during long work. Uses a message port, because timers are throttled in hidden tabs. */
const yieldToMain = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    port2.postMessage(null);
  });

/** Returns a function to await after each step; it yields only if the time slice is used up. */
export function createYielder(): () => Promise<void> | undefined {
  let deadline = performance.now() + MAX_SLICE_MS;
  return () => {
    if (performance.now() < deadline) return undefined;
    return yieldToMain().then(() => void (deadline = performance.now() + MAX_SLICE_MS));
  };
}

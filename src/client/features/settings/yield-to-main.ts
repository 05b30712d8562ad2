/** Lets the browser draw and answer keys between two pieces of long work. A message, because timers of hidden tabs sleep. */
const TURN_MS = 12;

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    port2.postMessage(null);
  });

/** Answers a function to be awaited after every small piece: it waits only when the work has had its time. */
export function createTurns(): () => Promise<void> | undefined {
  let until = performance.now() + TURN_MS;
  return () => {
    if (performance.now() < until) return undefined;
    return turn().then(() => void (until = performance.now() + TURN_MS));
  };
}

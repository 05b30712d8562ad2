/** Stops the database when our process exits for any reason except a kill -9. */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const endsDatabase = Symbol('ends the database');

/**
 * Calls `stopNow` (synchronous) when the process exits. Returns a function that removes the listeners.
 *
 * A signal without a listener ends Node before `exit` is emitted, so this function registers a listener. If the program
 * has a listener of its own, the program stops the database gracefully. Otherwise this listener calls `stopNow` and
 * sends the signal again, so that the process ends by the signal.
 */
export function stopOnProcessExit(stopNow: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals) => {
      const handledByProgram = process.listeners(signal).some((listener) => !(endsDatabase in listener));
      if (handledByProgram) return;
      stopNow();
      unregister();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
    { [endsDatabase]: true },
  );
  const unregister = () => {
    process.off('exit', stopNow);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  process.on('exit', stopNow);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return unregister;
}

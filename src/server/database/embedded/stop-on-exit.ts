/** Ends the database with our process on every way out that a process can still notice (a kill -9 it cannot). */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const endsDatabase = Symbol('ends the database');

/**
 * Calls `stopNow` (synchronous) when the process exits, whatever the reason. Answers how to take that back.
 *
 * A signal without a listener ends Node before `exit` is emitted, so there is a listener here. Where the program has
 * one of its own, it is left to stop gracefully; otherwise the signal is sent again, and ends the process as it would
 * have without us.
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

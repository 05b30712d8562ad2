/**
 * Runs `work` at most once at a time for each key: callers that come while it is in flight get the same result. A
 * result is not cached. Without a parameter there is one key.
 */
export function singleFlight<T, Key extends string | void = void>(
  work: (key: Key) => Promise<T>,
): (key: Key) => Promise<T> {
  const inFlight = new Map<Key, Promise<T>>();
  return (key) => {
    const running = inFlight.get(key);
    if (running) return running;
    const started = work(key).finally(() => inFlight.delete(key));
    inFlight.set(key, started);
    return started;
  };
}

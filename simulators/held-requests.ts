/** Requests that wait until a test releases them, so that tests need no timing assumptions. */
export class HeldRequests {
  readonly #held = new Set<() => void>();
  readonly #listeners = new Set<{ count: number; notify: () => void }>();

  /** Resolves on `release`. Rejects when `signal` aborts. */
  hold(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#held.add(resolve);
      signal?.addEventListener('abort', () => {
        this.#held.delete(resolve);
        reject(signal.reason as Error);
      });
      for (const listener of this.#listeners) {
        if (this.#held.size < listener.count) continue;
        this.#listeners.delete(listener);
        listener.notify();
      }
    });
  }

  /** Returns the number of released requests. */
  release(): number {
    const count = this.#held.size;
    for (const resolve of this.#held) resolve();
    this.#held.clear();
    return count;
  }

  /** Resolves once `count` requests are held. */
  whenHeld(count = 1): Promise<void> {
    if (this.#held.size >= count) return Promise.resolve();
    return new Promise((resolve) => void this.#listeners.add({ count, notify: resolve }));
  }
}

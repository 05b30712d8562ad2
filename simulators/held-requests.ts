/** Requests that wait until a test lets them go on, so that no test has to guess how far they are. */
export class HeldRequests {
  readonly #held = new Set<() => void>();
  readonly #listeners = new Set<{ count: number; tell: () => void }>();

  /** Resolves with `release`. Rejects when the caller has left meanwhile. */
  hold(left?: AbortSignal): Promise<void> {
    return new Promise((go, gone) => {
      this.#held.add(go);
      left?.addEventListener('abort', () => {
        this.#held.delete(go);
        gone(left.reason as Error);
      });
      for (const listener of this.#listeners) {
        if (this.#held.size < listener.count) continue;
        this.#listeners.delete(listener);
        listener.tell();
      }
    });
  }

  /** Answers how many went on. */
  release(): number {
    const count = this.#held.size;
    for (const go of this.#held) go();
    this.#held.clear();
    return count;
  }

  /** Resolves once so many are held. */
  whenHeld(count = 1): Promise<void> {
    if (this.#held.size >= count) return Promise.resolve();
    return new Promise((tell) => void this.#listeners.add({ count, tell }));
  }
}

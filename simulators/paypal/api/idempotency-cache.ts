type CachedResponse = { readonly body: string; readonly until: number };

/**
 * Idempotency by `PayPal-Request-Id`: a repeated id for the same path returns the first response until it expires.
 * Rejected requests are not cached, so they can be retried with the same id.
 */
export class IdempotencyCache {
  readonly #responses = new Map<string, CachedResponse>();

  get(key: string, now: number): string | null {
    const found = this.#responses.get(key);
    if (found === undefined) return null;
    if (now < found.until) return found.body;
    this.#responses.delete(key);
    return null;
  }

  set(key: string, body: string, until: number): void {
    this.#responses.set(key, { body, until });
  }

  clear(): void {
    this.#responses.clear();
  }
}

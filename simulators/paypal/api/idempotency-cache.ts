type CachedResponse = { readonly body: string; readonly until: number };

/**
 * Caches response bodies by client, path and `PayPal-Request-Id`: a repeated id returns the first body until it
 * expires. Rejected requests are not cached, so a client can retry them with the same id.
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

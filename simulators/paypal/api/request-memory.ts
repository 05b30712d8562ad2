/**
 * What `PayPal-Request-Id` is for: the same id on the same address gets the first answer again, for as long as PayPal
 * remembers. Only what was done is remembered; a refusal may be tried again with its id.
 */
type Remembered = { readonly body: string; readonly until: number };

export class RequestMemory {
  readonly #kept = new Map<string, Remembered>();

  recall(key: string, now: number): string | null {
    const found = this.#kept.get(key);
    if (found === undefined) return null;
    if (now < found.until) return found.body;
    this.#kept.delete(key);
    return null;
  }

  remember(key: string, body: string, until: number): void {
    this.#kept.set(key, { body, until });
  }

  clear(): void {
    this.#kept.clear();
  }
}

/**
 * A map that forgets what was not used for long, so that no stream of different keys can fill the memory.
 *
 * Two generations: what is asked for lives in the young one, and when that has grown to the limit it becomes the old one,
 * which is forgotten at the next turn. So asking for a key costs no bookkeeping, and at most twice `limit` are held.
 */
export class BoundedMap<Key, Value> {
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: Key): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const remembered = this.#old.get(key);
    if (remembered !== undefined) this.set(key, remembered);
    return remembered;
  }

  set(key: Key, value: Value): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (this.#young.size < this.#limit) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}

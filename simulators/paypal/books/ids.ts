/** Generates ids in PayPal's formats from a seed, so that a failing run can be reproduced. */
const CAPITALS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export class Ids {
  #state: number;
  #counter = 0;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** For orders, captures and refunds: 17 capitals and digits. The last four are a counter, so ids are unique. */
  resource(): string {
    this.#counter += 1;
    return this.#characters(13) + this.#counter.toString(36).toUpperCase().padStart(4, '0');
  }

  payer = (): string => this.#characters(13);

  event = (): string => `WH-${this.resource()}-${this.resource()}`;

  dispute = (): string => `PP-D-${10_000 + (this.#next() % 90_000)}`;

  /** For the `paypal-debug-id` header. */
  debug = (): string =>
    `f${this.#next().toString(16).padStart(8, '0')}${(++this.#counter).toString(16).padStart(4, '0')}`;

  token = (): string => `A21AA${this.#characters(40)}${(++this.#counter).toString(36)}`;

  /** A UUID for a webhook transmission. */
  transmission(): string {
    const hex = [1, 2, 3, 4].map(() => this.#next().toString(16).padStart(8, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-11f0-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #characters(count: number): string {
    let characters = '';
    for (let index = 0; index < count; index += 1) characters += CAPITALS_AND_DIGITS[this.#next() % 36];
    return characters;
  }

  /** Returns the next 32 bits of a seeded random number generator (mulberry32). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

/**
 * Hashes the rows of a table whatever their order: the sum of the SHA-256 of each row, modulo 2^256. A sequential scan
 * returns rows in any order, and sorting a large table for a hash of the whole text would fill the disk of a live server.
 * Detects damage, not forgery: only the encryption protects an archive against somebody who rewrites it.
 */
import { hash } from 'node:crypto';
import type { TableContent } from './archive-format.ts';

const NEWLINE = 10;
const WORDS = 8;
const WORD_MAX = 0xffff_ffff;

/** Takes text of COPY: each row ends with a line break, and COPY escapes line breaks within a row. */
export class RowHash {
  #rows = 0;
  #bytes = 0;
  readonly #sum = new Uint32Array(WORDS);
  #unfinished: Buffer[] = [];

  update(chunk: Buffer): void {
    this.#bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const row = chunk.subarray(start, end + 1);
      this.#add(this.#unfinished.length === 0 ? row : Buffer.concat([...this.#unfinished, row]));
      this.#unfinished = [];
      start = end + 1;
    }
    // Copied, because the caller may reuse the chunk.
    if (start < chunk.length) this.#unfinished.push(Buffer.from(chunk.subarray(start)));
  }

  #add(row: Buffer): void {
    this.#rows += 1;
    const digest = hash('sha256', row, 'buffer');
    let carry = 0;
    for (let word = 0; word < WORDS; word += 1) {
      const sum = this.#sum[word]! + digest.readUInt32LE(word * 4) + carry;
      this.#sum[word] = sum;
      carry = sum > WORD_MAX ? 1 : 0;
    }
  }

  get rows(): number {
    return this.#rows;
  }

  content(): TableContent {
    const words = Array.from(this.#sum, (word) => word.toString(16).padStart(8, '0'));
    return { rows: this.#rows, bytes: this.#bytes, hash: words.toReversed().join('') };
  }
}

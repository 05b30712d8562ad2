import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchCommonSubsequence } from './common-subsequence.ts';
import { heaviestIncreasingPairs, type Pair } from './align-lines.ts';
import { readLines } from '../read-lines.ts';
import { mergeLines } from '../merge-logs.ts';

const match = (a: readonly number[], b: readonly number[]): number[] => [
  ...matchCommonSubsequence(Int32Array.from(a), Int32Array.from(b), new Int32Array(a.length).fill(1)),
];

function longestCommon(a: readonly number[], b: readonly number[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const value of a) {
    const next = [0];
    b.forEach((other, j) => next.push(value === other ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!)));
    row = next;
  }
  return row.at(-1)!;
}

function expectInOrder(a: readonly number[], b: readonly number[], found: readonly number[]): void {
  let before = -1;
  found.forEach((j, i) => {
    if (j === -1) return;
    expect(a[i]).toBe(b[j]);
    expect(j).toBeGreaterThan(before);
    before = j;
  });
}

describe('matchCommonSubsequence', () => {
  const keys = fc.array(fc.nat(6), { maxLength: 30 });

  test('matches as many elements as possible', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const found = match(a, b);
        expectInOrder(a, b, found);
        expect(found.filter((j) => j !== -1)).toHaveLength(longestCommon(a, b));
      }),
    );
  });

  test('prefers the heavier elements', () => {
    expect([...matchCommonSubsequence(Int32Array.of(1, 1, 2), Int32Array.of(2, 1, 1), Int32Array.of(1, 1, 4))]).toEqual(
      [-1, -1, 0],
    );
  });

  const many = Array.from({ length: 1000 }, (_, index) => index);
  test.each([
    ['unique elements with an insertion', many, [...many.slice(0, 1), 5000, ...many.slice(1, -1), 5001, 999], 1000],
    ['unique elements, a part of them moved', many, [...many.slice(300), ...many.slice(0, 300)], 700],
    ['elements in reverse', many, many.toReversed(), 1],
    [
      'pairs of equal elements',
      many.map((n) => n >> 1),
      [7000, ...many.map((n) => n >> 1), 7001].toSpliced(500, 1),
      998,
    ],
    ['two alternating elements', many.map((n) => n % 2), many.map((n) => (n + 1) % 2), 900],
  ])('matches %s of long sequences', (_name, a, b, atLeast) => {
    const found = match(a, b);
    expectInOrder(a, b, found);
    expect(found.filter((j) => j !== -1).length).toBeGreaterThanOrEqual(atLeast);
  });
});

test('heaviestIncreasingPairs finds the highest total score', () => {
  const pair = fc.record({ a: fc.nat(5), b: fc.nat(5), score: fc.integer({ min: 1, max: 9 }) });
  const best = (pairs: readonly Pair[], a: number, b: number): number =>
    Math.max(0, ...pairs.filter((p) => p.a > a && p.b > b).map((p) => p.score + best(pairs, p.a, p.b)));
  fc.assert(
    fc.property(fc.uniqueArray(pair, { maxLength: 8, selector: ({ a, b }) => a * 10 + b }), (pairs) => {
      const chosen = heaviestIncreasingPairs(pairs, 6);
      chosen.slice(1).forEach(({ a, b }, index) => expect(a > chosen[index]!.a && b > chosen[index]!.b).toBe(true));
      expect(chosen.reduce((sum, { score }) => sum + score, 0)).toBe(best(pairs, -1, -1));
    }),
  );
});

test('a long log with many equal lines is merged line by line', () => {
  const log = (texts: readonly string[]) => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;
  const base = Array.from({ length: 1500 }, (_, index) =>
    index % 3 === 0 ? '' : index % 3 === 1 ? 'call' : `plan ${index}`,
  );
  const mine = base.toSpliced(700, 0, 'm').toSpliced(20, 4);
  const theirs = base.toSpliced(1200, 2, 'plan t').toSpliced(0, 0, 't');
  expect(mergeLines(log(base), log(base), log(theirs)).html).toBe(log(theirs));
  const texts = readLines(mergeLines(log(base), log(mine), log(theirs)).html).map(({ text }) => text);
  expect(texts).toHaveLength(1500 + 1 - 4 - 1 + 1);
  expect(texts).toEqual(expect.arrayContaining(['m', 't', 'plan t']));
});

/** Matches the equal elements of two sequences in order. */

/** Up to this product of the lengths, the match is optimal (LCS). Above it, unique elements divide both (patience). */
const MAX_LCS_CELLS = 1 << 16;
const MAX_PATIENCE_DEPTH = 8;

type Range = { aFrom: number; aTo: number; bFrom: number; bTo: number };

/**
 * Returns for each index of `a` the index of an equal element of `b`, or -1. `weights` has the weight of each element
 * of `a`: the match with the highest total weight is the best.
 */
export function matchCommonSubsequence(a: Int32Array, b: Int32Array, weights: Int32Array): Int32Array {
  const match = new Int32Array(a.length).fill(-1);

  const visit = ({ aFrom, aTo, bFrom, bTo }: Range, depth: number): void => {
    while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) match[aFrom++] = bFrom++;
    while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) match[--aTo] = --bTo;
    if (aFrom === aTo || bFrom === bTo) return;
    const range = { aFrom, aTo, bFrom, bTo };
    if ((aTo - aFrom) * (bTo - bFrom) <= MAX_LCS_CELLS) return matchLongest(a, b, weights, range, match);
    const anchors = depth < MAX_PATIENCE_DEPTH ? uniqueInOrder(a, b, range) : [];
    if (anchors.length === 0) return matchGreedily(a, b, range, match);
    let before = { a: aFrom, b: bFrom };
    for (const [i, j] of [...anchors, [aTo, bTo] as const]) {
      visit({ aFrom: before.a, aTo: i, bFrom: before.b, bTo: j }, depth + 1);
      if (i < aTo) match[i] = j;
      before = { a: i + 1, b: j + 1 };
    }
  };
  visit({ aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }, 0);
  return match;
}

function matchLongest(a: Int32Array, b: Int32Array, weights: Int32Array, range: Range, match: Int32Array): void {
  const { aFrom, aTo, bFrom, bTo } = range;
  const width = bTo - bFrom + 1;
  const best = new Int32Array((aTo - aFrom + 1) * width);
  for (let i = aTo - 1; i >= aFrom; i -= 1) {
    const row = (i - aFrom) * width;
    for (let j = bTo - 1; j >= bFrom; j -= 1) {
      const at = row + j - bFrom;
      const skip = Math.max(best[at + width]!, best[at + 1]!);
      best[at] = a[i] === b[j] ? Math.max(skip, best[at + width + 1]! + weights[i]!) : skip;
    }
  }
  for (let i = aFrom, j = bFrom; i < aTo && j < bTo;) {
    const at = (i - aFrom) * width + j - bFrom;
    if (a[i] === b[j] && best[at] === best[at + width + 1]! + weights[i]!) match[i++] = j++;
    else if (best[at] === best[at + width]) i += 1;
    else j += 1;
  }
}

/** The elements that occur once on each side, reduced to those in the same order on both. */
function uniqueInOrder(a: Int32Array, b: Int32Array, { aFrom, aTo, bFrom, bTo }: Range): [number, number][] {
  const inA = uniqueIndexes(a, aFrom, aTo);
  const inB = uniqueIndexes(b, bFrom, bTo);
  const pairs: [number, number][] = [];
  for (const [key, i] of inA) {
    const j = inB.get(key) ?? -1;
    if (i >= 0 && j >= 0) pairs.push([i, j]);
  }
  return longestIncreasing(pairs);
}

/** The index of each element that occurs once; -1 for the others. */
function uniqueIndexes(keys: Int32Array, from: number, to: number): Map<number, number> {
  const indexes = new Map<number, number>();
  for (let i = from; i < to; i += 1) indexes.set(keys[i]!, indexes.has(keys[i]!) ? -1 : i);
  return indexes;
}

/** The longest subsequence of `pairs` whose second numbers increase. `pairs` are sorted by their first numbers. */
function longestIncreasing(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, value], index) => {
    let low = 0;
    for (let high = tails.length; low < high;) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]!]![1] < value) low = middle + 1;
      else high = middle;
    }
    before[index] = tails[low - 1] ?? -1;
    tails[low] = index;
  });
  const longest: [number, number][] = [];
  for (let index = tails.at(-1) ?? -1; index !== -1; index = before[index]!) longest.push(pairs[index]!);
  return longest.reverse();
}

/** Linear: matches each element to the next equal one, which need not give the longest match. */
function matchGreedily(a: Int32Array, b: Int32Array, range: Range, match: Int32Array): void {
  const { aFrom, aTo, bFrom, bTo } = range;
  const places = new Map<number, number[]>();
  for (let j = bTo - 1; j >= bFrom; j -= 1) {
    const found = places.get(b[j]!);
    if (found) found.push(j);
    else places.set(b[j]!, [j]);
  }
  let next = bFrom;
  for (let i = aFrom; i < aTo; i += 1) {
    const found = places.get(a[i]!);
    while (found && found.length > 0 && found.at(-1)! < next) found.pop();
    const j = found?.at(-1);
    // A match far ahead would leave the elements in between without a match.
    if (j === undefined || j - next > aTo - i) continue;
    match[i] = j;
    next = j + 1;
  }
}

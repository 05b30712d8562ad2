/** Scores how alike two texts are, and finds candidates by shared words without comparing every pair. */

const SAMPLE_LENGTH = 400;
/** A word in more lines than this is ignored: it distinguishes little, and comparing its lines takes quadratic time. */
const MAX_LINES_PER_WORD = 8;
const MAX_CANDIDATES = 4;
/** A shorter common beginning does not make two texts similar. */
export const MIN_PREFIX_LENGTH = 3;
/** Letter pairs recur in unrelated texts, so equal words count more. */
const LETTER_WEIGHT = 0.5;
const WORD = /[\p{L}\p{N}]+|[^\s\p{L}\p{N}]+/gu;

export type Sketch = { readonly text: string; readonly words: ReadonlySet<string> };

export function sketchText(text: string): Sketch {
  const trimmed = text.trim();
  const sample =
    trimmed.length <= 2 * SAMPLE_LENGTH ? trimmed : trimmed.slice(0, SAMPLE_LENGTH) + trimmed.slice(-SAMPLE_LENGTH);
  return { text: trimmed, words: new Set(sample.toLowerCase().match(WORD) ?? []) };
}

/**
 * From 0 to 1: the share of common words, or half the share of common letter pairs if no word is equal. At least 0.7 if
 * one text, of `MIN_PREFIX_LENGTH` or more, is the beginning of the other. Neither text is blank.
 */
export function similarity(a: Sketch, b: Sketch): number {
  let shared = 0;
  for (const word of a.words) if (b.words.has(word)) shared += 1;
  const score = (2 * shared) / (a.words.size + b.words.size);
  const [short, long] = a.text.length < b.text.length ? [a.text, b.text] : [b.text, a.text];
  if (short.length >= MIN_PREFIX_LENGTH && long.startsWith(short)) return Math.max(score, 0.7);
  return shared > 0 ? score : LETTER_WEIGHT * letterPairSimilarity(a.text, b.text);
}

function letterPairSimilarity(a: string, b: string): number {
  const pairs = new Map<string, number>();
  const left = a.slice(0, SAMPLE_LENGTH).toLowerCase();
  const right = b.slice(0, SAMPLE_LENGTH).toLowerCase();
  for (let i = 1; i < left.length; i += 1) {
    const pair = left.slice(i - 1, i + 1);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let shared = 0;
  for (let i = 1; i < right.length; i += 1) {
    const pair = right.slice(i - 1, i + 1);
    const count = pairs.get(pair) ?? 0;
    if (count === 0) continue;
    pairs.set(pair, count - 1);
    shared += 1;
  }
  return (2 * shared) / Math.max(1, left.length + right.length - 2);
}

/** Finds, for a text, the indexed texts that share most of its rare words. */
export function indexByWords(sketches: readonly Sketch[]): (sketch: Sketch) => number[] {
  const places = new Map<string, number[]>();
  sketches.forEach(({ words }, index) => {
    for (const word of words) {
      const found = places.get(word);
      if (found) found.push(index);
      else places.set(word, [index]);
    }
  });
  return ({ words }) => {
    const counts = new Map<number, number>();
    for (const word of words) {
      const found = places.get(word);
      if (!found || found.length > MAX_LINES_PER_WORD) continue;
      for (const index of found) counts.set(index, (counts.get(index) ?? 0) + 1);
    }
    const byCount = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    return byCount.slice(0, MAX_CANDIDATES).map(([index]) => index);
  };
}

export type Pair = { readonly a: number; readonly b: number; readonly score: number };

/** The pairs with the highest total score whose `a` and `b` both increase. */
export function heaviestIncreasingPairs(pairs: readonly Pair[], bLength: number): Pair[] {
  const sorted = pairs.toSorted((x, y) => x.a - y.a || y.b - x.b);
  const total = new Float64Array(sorted.length);
  const before = new Int32Array(sorted.length).fill(-1);
  // A Fenwick tree over `b`: the index of the pair with the highest total that ends at or before a position.
  const tree = new Int32Array(bLength + 1).fill(-1);
  let last = -1;
  sorted.forEach(({ b, score }, index) => {
    let best = -1;
    for (let at = b; at > 0; at -= at & -at) {
      const found = tree[at]!;
      if (found !== -1 && (best === -1 || total[found]! > total[best]!)) best = found;
    }
    before[index] = best;
    const sum = score + (best === -1 ? 0 : total[best]!);
    total[index] = sum;
    for (let at = b + 1; at <= bLength; at += at & -at) {
      const found = tree[at]!;
      if (found === -1 || sum > total[found]!) tree[at] = index;
    }
    if (last === -1 || sum > total[last]!) last = index;
  });
  const chosen: Pair[] = [];
  for (let index = last; index !== -1; index = before[index]!) chosen.push(sorted[index]!);
  return chosen.reverse();
}

/** Finds each line of the base in an edited version: first by equal words, then by similarity and position. */
import { matchCommonSubsequence } from './common-subsequence.ts';
import { isBlank, parentOf, textKey, type Line } from '../read-lines.ts';

/** From this similarity on, a line between the same neighbours (in the same gap) counts as an edit of the base line. */
const MIN_EDIT_SCORE = 0.35;
/** From this similarity on, a line elsewhere counts as the base line, moved and edited. */
const MIN_MOVE_SCORE = 0.6;
/** Blank lines are all equal, so a matched line with text says more about the order of the lines. */
const BLANK_WEIGHT = 1;
const TEXT_WEIGHT = 4;

export type Alignment = {
  /** For each base line the index of the same line in the other version, or -1 if it was deleted. */
  readonly match: Int32Array;
  /** For each base line 1 if its position among the other lines changed, otherwise 0. */
  readonly isMoved: Uint8Array;
};

export function alignLines(base: readonly Line[], side: readonly Line[]): Alignment {
  const [baseKeys, sideKeys] = numberKeys(base, side);
  const weights = Int32Array.from(base, (line) => (isBlank(line) ? BLANK_WEIGHT : TEXT_WEIGHT));
  const match = matchCommonSubsequence(baseKeys, sideKeys, weights);
  const isMoved = new Uint8Array(base.length);
  const isTaken = new Uint8Array(side.length);
  for (const j of match) if (j !== -1) isTaken[j] = 1;
  const alignment = { match, isMoved };
  const pairLines = (i: number, j: number, moved: boolean): void => {
    match[i] = j;
    isMoved[i] = moved ? 1 : 0;
    isTaken[j] = 1;
  };

  matchMoved(base, side, [baseKeys, sideKeys], alignment, isTaken, pairLines);
  matchEdited(base, side, alignment, isTaken, pairLines);
  matchAlone(base, side, alignment, isTaken, pairLines);
  return alignment;
}

type Keys = readonly [base: Int32Array, side: Int32Array];
type PairLines = (i: number, j: number, moved: boolean) => void;

function numberKeys(base: readonly Line[], side: readonly Line[]): Keys {
  const numbers = new Map<string, number>();
  const keysOf = (lines: readonly Line[]): Int32Array =>
    Int32Array.from(lines, (line) => {
      const key = textKey(line);
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      return number;
    });
  return [keysOf(base), keysOf(side)];
}

/** Matches lines of equal words that are out of order. */
function matchMoved(
  base: readonly Line[],
  side: readonly Line[],
  [baseKeys, sideKeys]: Keys,
  { match }: Alignment,
  isTaken: Uint8Array,
  pairLines: PairLines,
): void {
  const places = new Map<number, number[]>();
  for (let j = side.length - 1; j >= 0; j -= 1) {
    if (isTaken[j] || isBlank(side[j]!)) continue;
    const found = places.get(sideKeys[j]!);
    if (found) found.push(j);
    else places.set(sideKeys[j]!, [j]);
  }
  for (let i = 0; i < base.length; i += 1) {
    const j = match[i] === -1 ? places.get(baseKeys[i]!)?.pop() : undefined;
    if (j !== undefined) pairLines(i, j, true);
  }
}

/** Numbers the gaps between matched lines that were not moved: the lines of a gap have its number in both versions. */
function gapsOf(sideLength: number, { match, isMoved }: Alignment): { ofBase: Int32Array; ofSide: Int32Array } {
  const ofBase = new Int32Array(match.length);
  const ofSide = new Int32Array(sideLength);
  let gap = 0;
  let from = 0;
  match.forEach((j, i) => {
    if (j !== -1 && !isMoved[i]) {
      ofSide.fill(gap, from, j + 1);
      from = j + 1;
      gap += 1;
    }
    ofBase[i] = gap;
  });
  ofSide.fill(gap, from);
  return { ofBase, ofSide };
}

function matchEdited(
  base: readonly Line[],
  side: readonly Line[],
  alignment: Alignment,
  isTaken: Uint8Array,
  pairLines: PairLines,
): void {
  const { match } = alignment;
  const freeBase = base.filter((line) => match[line.index] === -1 && !isBlank(line));
  const freeSide = side.filter((line) => !isTaken[line.index] && !isBlank(line));
  if (freeBase.length === 0 || freeSide.length === 0) return;
  const gaps = gapsOf(side.length, alignment);
  const sketches = freeSide.map((line) => sketchText(line.text));
  const candidatesOf = indexByWords(sketches);
  const positionsOf = indexByPosition(freeBase, freeSide, gaps);

  const inGap: Pair[] = [];
  const elsewhere: Pair[] = [];
  freeBase.forEach((line, at) => {
    const sketch: Sketch = sketchText(line.text);
    for (const candidate of new Set([...candidatesOf(sketch), ...positionsOf(at)])) {
      const other = freeSide[candidate]!;
      const score = similarity(sketch, sketches[candidate]!);
      const pair = { a: line.index, b: other.index, score };
      if (gaps.ofBase[pair.a] === gaps.ofSide[pair.b] && score >= MIN_EDIT_SCORE) inGap.push(pair);
      if (score >= MIN_MOVE_SCORE) elsewhere.push(pair);
    }
  });
  for (const { a, b } of heaviestIncreasingPairs(inGap, side.length)) pairLines(a, b, false);
  for (const { a, b } of elsewhere.sort((x, y) => y.score - x.score || x.a - y.a || x.b - y.b))
    if (match[a] === -1 && !isTaken[b]) pairLines(a, b, true);
}

/** Returns a function that finds the free (unmatched) lines at the same distance from either end of the same gap. */
function indexByPosition(
  freeBase: readonly Line[],
  freeSide: readonly Line[],
  gaps: ReturnType<typeof gapsOf>,
): (at: number) => number[] {
  const sideRanges = rangesOf(freeSide.map((line) => gaps.ofSide[line.index]!));
  const baseRanges = rangesOf(freeBase.map((line) => gaps.ofBase[line.index]!));
  return (at) => {
    const gap = gaps.ofBase[freeBase[at]!.index]!;
    const own = baseRanges.get(gap)!;
    const other = sideRanges.get(gap);
    if (!other) return [];
    const places = [other.from + at - own.from, other.to - (own.to - at)];
    return places.filter((place) => place >= other.from && place < other.to);
  };
}

function rangesOf(gaps: readonly number[]): Map<number, { from: number; to: number }> {
  const ranges = new Map<number, { from: number; to: number }>();
  gaps.forEach((gap, at) => ranges.set(gap, { from: ranges.get(gap)?.from ?? at, to: at + 1 }));
  return ranges;
}

/**
 * Matches the two free lines of a gap, if each version has only one, although they are not similar. One of the two must
 * be blank, or the base line must be the first line of an item with nested items: matched, these items stay nested.
 * Otherwise the base line counts as deleted and the other line as added.
 */
function matchAlone(
  base: readonly Line[],
  side: readonly Line[],
  alignment: Alignment,
  isTaken: Uint8Array,
  pairLines: PairLines,
): void {
  const gaps = gapsOf(side.length, alignment);
  const aloneInBase = aloneByGap(base, gaps.ofBase, (i) => alignment.match[i] === -1);
  const aloneInSide = aloneByGap(side, gaps.ofSide, (j) => !isTaken[j]);
  for (const [gap, i] of aloneInBase) {
    const j = aloneInSide.get(gap) ?? -1;
    if (i === -1 || j === -1) continue;
    const [line, other] = [base[i]!, side[j]!];
    const inside = base[i + 1] && parentOf(base[i + 1]!);
    const isParent = inside?.list && inside.head === line;
    if (isParent || isBlank(line) || isBlank(other)) pairLines(i, j, false);
  }
}

/** Maps each gap to the index of its only free line, or to -1 if several of its lines are free. */
function aloneByGap(lines: readonly Line[], gaps: Int32Array, isFree: (index: number) => boolean): Map<number, number> {
  const alone = new Map<number, number>();
  for (const { index } of lines) {
    const gap = gaps[index]!;
    if (isFree(index)) alone.set(gap, alone.has(gap) ? -1 : index);
  }
  return alone;
}

const SAMPLE_LENGTH = 400;
/** A word in more lines than this is ignored: it distinguishes little, and comparing its lines takes quadratic time. */
const MAX_LINES_PER_WORD = 8;
const MAX_CANDIDATES = 4;
/** A shorter common beginning does not make two texts similar. */
export const MIN_PREFIX_LENGTH = 3;
/** Letter pairs recur in unrelated texts, so equal words count more. */
const LETTER_WEIGHT = 0.5;
const WORD = /[\p{L}\p{N}]+|[^\s\p{L}\p{N}]+/gu;

type Sketch = { readonly text: string; readonly words: ReadonlySet<string> };

function sketchText(text: string): Sketch {
  const trimmed = text.trim();
  const sample =
    trimmed.length <= 2 * SAMPLE_LENGTH ? trimmed : trimmed.slice(0, SAMPLE_LENGTH) + trimmed.slice(-SAMPLE_LENGTH);
  return { text: trimmed, words: new Set(sample.toLowerCase().match(WORD) ?? []) };
}

/**
 * From 0 to 1: the share of common words, or half the share of common letter pairs if no word is equal. At least 0.7 if
 * one text, of `MIN_PREFIX_LENGTH` or more, is the beginning of the other. Neither text is blank.
 */
function similarity(a: Sketch, b: Sketch): number {
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
function indexByWords(sketches: readonly Sketch[]): (sketch: Sketch) => number[] {
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

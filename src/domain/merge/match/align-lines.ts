/** Finds each line of the base in an edited version: first by equal words, then by similarity and position. */
import { matchCommonSubsequence } from './common-subsequence.ts';
import { isBlank, parentOf, textKey, type Line } from '../merge-lines.ts';
import {
  heaviestIncreasingPairs,
  indexByWords,
  similarity,
  sketchText,
  type Pair,
  type Sketch,
} from './similar-lines.ts';

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

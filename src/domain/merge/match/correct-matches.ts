/** Corrects the matches of edited lines by comparing the two edited versions with each other. */
import type { Alignment } from './align-lines.ts';
import { isBlank, type Line } from '../merge-lines.ts';

/** A line that equals the other version's edit is searched up to this many lines from the edited line. */
const REMATCH_DISTANCE = 2;
/** A corrected match may show that another match is wrong, so the correction is repeated, at most this often. */
const MAX_PASSES = 3;

export type AlignedVersion = { readonly lines: readonly Line[]; readonly alignment: Alignment };
type Version = AlignedVersion & {
  /** 1 for each line that matches no base line. */
  readonly free: Uint8Array;
  /** The indexes of the free lines with words, by their text. */
  readonly added: ReadonlyMap<string, number>;
  /** The indexes of base lines by their edited text. */
  readonly edited: ReadonlyMap<string, number>;
};

/**
 * Compares both versions, because one may be an earlier merge with the other. Then it has lines of the other version,
 * edited or not, which `alignLines` cannot recognise.
 */
export function correctMatches(base: readonly Line[], mine: AlignedVersion, theirs: AlignedVersion): void {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const versions = [withChanges(base, mine), withChanges(base, theirs)] as const;
    const corrected = base.filter((line) => correctMatch(base, line, versions));
    if (corrected.length === 0) return;
  }
}

function withChanges(base: readonly Line[], { lines, alignment }: AlignedVersion): Version {
  const free = new Uint8Array(lines.length).fill(1);
  const edited = new Map<string, number>();
  alignment.match.forEach((j, i) => {
    if (j === -1) return;
    free[j] = 0;
    if (lines[j]!.text !== base[i]!.text) edited.set(lines[j]!.text, i);
  });
  const added = lines.filter((line, j) => free[j] === 1 && !isBlank(line));
  return { lines, alignment, free, edited, added: new Map(added.map(({ text, index }) => [text, index])) };
}

const textOf = ({ lines, alignment }: Version, i: number): string | undefined => lines[alignment.match[i]!]?.text;

function correctMatch(
  base: readonly Line[],
  { text, index: i }: Line,
  [mine, theirs]: readonly [Version, Version],
): boolean {
  const own = textOf(mine, i);
  const other = textOf(theirs, i);
  if (own === other) return false;
  if (own === undefined) return other !== text && (matchAdded(mine, i, other!) || takeOverMatch(base, i, theirs, mine));
  if (other === undefined) return own !== text && (matchAdded(theirs, i, own) || takeOverMatch(base, i, mine, theirs));
  if (other === text) return unmatchAdded(mine, i, theirs.added.has(own));
  if (own === text) return unmatchAdded(theirs, i, mine.added.has(other));
  return (
    rematchEither(i, [mine, other], [theirs, own]) ||
    takeOverMatch(base, i, mine, theirs) ||
    takeOverMatch(base, i, theirs, mine)
  );
}

/**
 * `edited` is the other version's edit of base line `i`, which has no match in this version. If a free line has that
 * text, it becomes the match: the edit was too different from the base line to be found by similarity.
 */
function matchAdded({ alignment, free, added }: Version, i: number, edited: string): boolean {
  const j = added.get(edited);
  if (j === undefined || !free[j]) return false;
  free[j] = 0;
  alignment.match[i] = j;
  alignment.isMoved[i] = 1;
  return true;
}

/**
 * Removes the match of base line `i`. `isAdded`: the other version has the base line unchanged, and the edited text as
 * another, added line. So the matched line was added too, and is no edit of the base line.
 */
function unmatchAdded({ alignment, free }: Version, i: number, isAdded: boolean): boolean {
  if (!isAdded) return false;
  free[alignment.match[i]!] = 1;
  alignment.match[i] = -1;
  alignment.isMoved[i] = 0;
  return true;
}

/**
 * If one version has both edits of a line, its line that equals the other version's edit becomes the match. The nearest
 * such line wins. Swapping mine and theirs gives the same result: the sides are tried in the order of the texts.
 */
function rematchEither(i: number, ...sides: readonly (readonly [version: Version, wanted: string])[]): boolean {
  const sorted = sides.toSorted(([, a], [, b]) => (a < b ? -1 : 1));
  for (let distance = 1; distance <= REMATCH_DISTANCE; distance += 1)
    for (const [version, wanted] of sorted)
      for (const step of [-distance, distance]) if (rematch(version, i, step, wanted)) return true;
  return false;
}

function rematch({ lines, alignment, free }: Version, i: number, step: number, wanted: string): boolean {
  const j = alignment.match[i]! + step;
  if (!free[j] || lines[j]?.text !== wanted) return false;
  free[alignment.match[i]!] = 1;
  free[j] = 0;
  alignment.match[i] = j;
  return true;
}

/**
 * Mine's edit of base line `i` may also be in theirs, but matched there to a similar base line `k`. If mine has
 * deleted, emptied or not changed line `k`, the match in theirs moves from `k` to `i`.
 */
function takeOverMatch(base: readonly Line[], i: number, mine: Version, theirs: Version): boolean {
  const own = textOf(mine, i);
  const k = own === undefined ? undefined : theirs.edited.get(own);
  if (k === undefined || textOf(theirs, k) !== own) return false;
  const similar = textOf(mine, k);
  if (similar !== undefined && similar.trim() !== '' && similar !== base[k]!.text) return false;
  const { match, isMoved } = theirs.alignment;
  if (match[i] !== -1) theirs.free[match[i]!] = 1;
  match[i] = match[k]!;
  match[k] = -1;
  isMoved[i] = 1;
  isMoved[k] = 0;
  return true;
}

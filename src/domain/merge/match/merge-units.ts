/** Groups the lines of the base, mine and theirs into units: the same line in each of the three. */
import { alignLines, MIN_PREFIX_LENGTH, type Alignment } from './align-lines.ts';
import { isBlank, textKey, parentOf, type Line, type Unit } from '../read-lines.ts';
import { containsText } from '../merge-content.ts';

export type Units = { readonly all: readonly Unit[]; readonly unitOf: ReadonlyMap<Line, Unit> };

export function createUnits(base: readonly Line[], mine: readonly Line[], theirs: readonly Line[]): Units {
  const all: Unit[] = [];
  const unitOf = new Map<Line, Unit>();
  const add = (unit: Omit<Unit, 'id'>): void => {
    const added: Unit = { id: all.length, ...unit };
    all.push(added);
    for (const line of [unit.base, unit.mine, unit.theirs]) if (line) unitOf.set(line, added);
  };

  const inMine = alignLines(base, mine);
  const inTheirs = alignLines(base, theirs);
  const versions = [
    { lines: mine, alignment: inMine },
    { lines: theirs, alignment: inTheirs },
  ] as const;
  correctMatches(base, ...versions);
  matchRepeatedLines(base, ...versions);
  base.forEach((line, i) =>
    add({
      base: line,
      mine: mine[inMine.match[i]!] ?? null,
      theirs: theirs[inTheirs.match[i]!] ?? null,
      isMovedInMine: inMine.isMoved[i] === 1,
      isMovedInTheirs: inTheirs.isMoved[i] === 1,
    }),
  );
  const added = { base: null, mine: null, theirs: null, isMovedInMine: false, isMovedInTheirs: false };
  for (const line of mine) if (!unitOf.has(line)) add({ ...added, mine: line });
  joinAddedLines(mine, theirs, unitOf);
  for (const line of theirs) if (!unitOf.has(line)) add({ ...added, theirs: line });
  return { all, unitOf };
}

/** The first copy of a line that each version alone kept, by its base line; null if none. */
type Copies = { isShared: boolean; mine: number | null; theirs: number | null };

/**
 * The base repeats a line, and each version kept another copy of it. The two copies are then matched: otherwise each
 * would count as deleted by the other version, and no copy of a line that both versions have would be left.
 */
function matchRepeatedLines(base: readonly Line[], mine: AlignedVersion, theirs: AlignedVersion): void {
  const copiesOf = new Map<string, Copies>();
  base.forEach((line, i) => {
    if (isBlank(line)) return;
    const copies = copiesOf.get(textKey(line)) ?? { isShared: false, mine: null, theirs: null };
    copiesOf.set(textKey(line), copies);
    const [isInMine, isInTheirs] = [hasCopy(mine, line), hasCopy(theirs, line)];
    if (isInMine && isInTheirs) copies.isShared = true;
    else if (isInMine && isReplaceable(theirs, i)) copies.mine ??= i;
    else if (isInTheirs && isReplaceable(mine, i)) copies.theirs ??= i;
  });
  for (const { isShared, mine: i, theirs: k } of copiesOf.values()) {
    if (isShared || i === null || k === null) continue;
    // The earlier base line is that of both, so that swapping mine and theirs gives the same result.
    if (i < k) swapMatches(theirs, i, k);
    else swapMatches(mine, i, k);
  }
}

/** True if the version has the base line with the same words. */
function hasCopy({ lines, alignment }: AlignedVersion, line: Line): boolean {
  const copy = lines[alignment.match[line.index]!];
  return copy !== undefined && textKey(copy) === textKey(line);
}

/** True if the version has no match for base line `i`, or one elsewhere that is only similar. */
const isReplaceable = ({ alignment: { match, isMoved } }: AlignedVersion, i: number): boolean =>
  match[i] === -1 || isMoved[i] === 1;

function swapMatches({ alignment: { match, isMoved } }: AlignedVersion, i: number, k: number): void {
  [match[i], match[k]] = [match[k]!, match[i]!];
  [isMoved[i], isMoved[k]] = [isMoved[k]!, isMoved[i]!];
}

// Corrects the matches of edited lines by comparing the two edited versions with each other.

/** A line that equals the other version's edit is searched up to this many lines from the edited line. */
const REMATCH_DISTANCE = 2;
/** A corrected match may show that another match is wrong, so the correction is repeated, at most this often. */
const MAX_PASSES = 3;

type AlignedVersion = { readonly lines: readonly Line[]; readonly alignment: Alignment };
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
function correctMatches(base: readonly Line[], mine: AlignedVersion, theirs: AlignedVersion): void {
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
 * another, added line. So the matched line was added too, and is not an edit of the base line.
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

// Joins lines that both versions added: equal lines, a line that continues the other in the same place, and a long line
// that the other contains.

/** The maximum number of candidates that are compared with one added line. */
const MAX_COMPARED = 16;
/**
 * From this length on, equal added lines, and an added line inside another one, are joined even in different places:
 * two devices hardly ever add the same long text, so one version has the line from the other.
 */
const MIN_ANYWHERE_LENGTH = 8;

/** `region`: the number of shared lines before the added line. `sharedBefore`: the text of the last of these. */
type Added = { readonly line: Line; readonly region: number; readonly sharedBefore: string; isJoined: boolean };

/** Sets `theirs` of each unit that mine has added, if theirs has added the same or a continued line. */
function joinAddedLines(mine: readonly Line[], theirs: readonly Line[], unitOf: Map<Line, Unit>): void {
  const fromMine = addedLines(mine, unitOf, (unit) => unit.theirs === null && unit.base === null);
  const fromTheirs = addedLines(theirs, unitOf, () => false);
  const join = (own: Added, other: Added): void => {
    const unit = unitOf.get(own.line)!;
    unit.theirs = other.line;
    unitOf.set(other.line, unit);
    own.isJoined = true;
    other.isJoined = true;
  };

  const byText = groupBy(fromMine, ({ line }) => textKey(line));
  for (const other of fromTheirs) {
    const { line } = other;
    const isSamePlace = (own: Added): boolean => {
      const unitBefore = unitOf.get(theirs[line.index - 1]!);
      const parent = parentOf(line);
      const ownParent = parentOf(own.line);
      return (
        isAroundEqual(own, other) ||
        (unitBefore !== undefined && unitBefore === unitOf.get(mine[own.line.index - 1]!)) ||
        (parent !== null && ownParent !== null && unitOf.get(parent.head!) === unitOf.get(ownParent.head!))
      );
    };
    const equal = byText.get(textKey(line));
    const own = findFree(equal, isSamePlace) ?? findFree(equal, () => line.text.length >= MIN_ANYWHERE_LENGTH);
    if (own) join(own, other);
  }

  const byRegion = groupBy(fromMine, ({ region }) => region);
  const anywhere = fromMine.filter(({ isJoined }) => !isJoined);
  for (const other of fromTheirs) {
    if (other.isJoined) continue;
    const own =
      findFree(byRegion.get(other.region), ({ line }) => isContinued(line, other.line)) ??
      findFree(anywhere, ({ line }) => isContained(line, other.line));
    if (own) join(own, other);
  }
}

/** The lines that one version has added. A line is shared if both versions have it and neither has moved it. */
function addedLines(
  lines: readonly Line[],
  unitOf: ReadonlyMap<Line, Unit>,
  isAdded: (unit: Unit) => boolean,
): Added[] {
  let region = 0;
  let sharedBefore = '';
  const added: Added[] = [];
  lines.forEach((line) => {
    const unit = unitOf.get(line);
    if (!unit || isAdded(unit)) added.push({ line, region, sharedBefore, isJoined: false });
    else if (unit.mine && unit.theirs && !unit.isMovedInMine && !unit.isMovedInTheirs) {
      region += 1;
      sharedBefore = line.text;
    }
  });
  return added;
}

/** `Map.groupBy`, which the oldest supported browsers lack. */
function groupBy<K>(added: readonly Added[], keyOf: (added: Added) => K): Map<K, Added[]> {
  const groups = new Map<K, Added[]>();
  for (const one of added) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}

/**
 * True if the equal lines are in the same region, or on both sides of a shared line with the same text: of two equal
 * lines in a row, either may be the one that was matched as shared.
 */
function isAroundEqual(own: Added, other: Added): boolean {
  if (Math.abs(own.region - other.region) > 1) return false;
  const later = own.region > other.region ? own : other;
  return own.region === other.region || later.sharedBefore === other.line.text;
}

function findFree(candidates: Added[] | undefined, isWanted: (added: Added) => boolean): Added | undefined {
  if (!candidates) return undefined;
  // Drop the joined lines at the front, so that they are not examined again: equal lines are joined in order.
  while (candidates[0]?.isJoined) candidates.shift();
  return candidates.slice(0, MAX_COMPARED).find((added) => !added.isJoined && isWanted(added));
}

function isContinued(a: Line, b: Line): boolean {
  const [short, long] = byLength(a, b);
  if (isBlank(short) || short.tag === 'pre' || long.tag === 'pre') return false;
  const beginning = short.text.trim();
  return beginning.length >= MIN_PREFIX_LENGTH && long.text.trimStart().startsWith(beginning);
}

/** True if the longer line may be the shorter one, after the other version has received, edited and moved it. */
function isContained(a: Line, b: Line): boolean {
  const [short, long] = byLength(a, b);
  if (short.tag === 'pre' || long.tag === 'pre') return false;
  return short.text.trim().length >= MIN_ANYWHERE_LENGTH && containsText(long.text, short.text);
}

const byLength = (a: Line, b: Line): [short: Line, long: Line] => (a.text.length < b.text.length ? [a, b] : [b, a]);

/** Joins the lines of the three versions that are the same line: a unit is merged as a whole. */
import { alignLines } from './align-lines.ts';
import { contentKey, isBlank, parentOf } from './merge-lines.ts';
import type { Line } from './merge-lines.ts';
import { MIN_PREFIX_LENGTH } from './similar-lines.ts';

export type Unit = {
  readonly id: number;
  readonly base: Line | null;
  mine: Line | null;
  theirs: Line | null;
  /** The position among the other lines differs from the base. */
  readonly isMovedInMine: boolean;
  readonly isMovedInTheirs: boolean;
};

export type Units = { readonly all: readonly Unit[]; readonly unitOf: ReadonlyMap<Line, Unit> };

/** A line equal to the other version's edit is looked for this far from the edited line. */
const REMATCH_DISTANCE = 2;
/** Of many equal lines added by the other version, only so many are compared. */
const MAX_COMPARED = 16;
/** A corrected match may show that another one is wrong. */
const MAX_PASSES = 3;

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
  preferEqualEdits(base, mine, inMine.match, theirs, inTheirs.match);
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
  joinAdded(mine, theirs, unitOf);
  for (const line of theirs) if (!unitOf.has(line)) add({ ...added, theirs: line });
  return { all, unitOf };
}

type Match = { readonly lines: readonly Line[]; readonly match: Int32Array; readonly free: Uint8Array };

/**
 * Corrects matches of edited lines by comparing the two versions, one of which may be an earlier merge with the other. If
 * one version has both edits of a line, its line that equals the other version's edit becomes the match. If the other
 * version has the edited text as a line of its own, the line was added, not edited.
 */
function preferEqualEdits(
  base: readonly Line[],
  mine: readonly Line[],
  inMine: Int32Array,
  theirs: readonly Line[],
  inTheirs: Int32Array,
): void {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const own = { lines: mine, match: inMine, free: freeLines(mine, inMine) };
    const other = { lines: theirs, match: inTheirs, free: freeLines(theirs, inTheirs) };
    const ownAdded = addedTexts(own);
    const otherAdded = addedTexts(other);
    let isChanged = false;
    const unmatch = (match: Int32Array, i: number): boolean => {
      match[i] = -1;
      return true;
    };
    base.forEach(({ text }, i) => {
      const ownText = mine[inMine[i]!]?.text;
      const otherText = theirs[inTheirs[i]!]?.text;
      if (ownText === undefined || otherText === undefined || ownText === otherText) return;
      const isCorrected =
        (otherText === text && otherAdded.has(ownText) && unmatch(inMine, i)) ||
        (ownText === text && ownAdded.has(otherText) && unmatch(inTheirs, i)) ||
        (ownText !== text &&
          otherText !== text &&
          rematchEither(i, [
            { side: own, wanted: otherText },
            { side: other, wanted: ownText },
          ]));
      isChanged ||= isCorrected;
    });
    if (!isChanged) return;
  }
}

function freeLines({ length }: readonly Line[], match: Int32Array): Uint8Array {
  const free = new Uint8Array(length).fill(1);
  for (const j of match) if (j !== -1) free[j] = 0;
  return free;
}

const addedTexts = ({ lines, free }: Match): ReadonlySet<string> =>
  new Set(lines.filter((line, j) => free[j] === 1 && !isBlank(line)).map(({ text }) => text));

/** `wanted` by distance from the present match; of equally distant ones the same whichever version is mine. */
function rematchEither(i: number, sides: readonly { side: Match; wanted: string }[]): boolean {
  const sorted = sides.toSorted((a, b) => (a.wanted < b.wanted ? -1 : 1));
  for (let distance = 1; distance <= REMATCH_DISTANCE; distance += 1)
    for (const { side, wanted } of sorted)
      for (const step of [-distance, distance]) if (rematch(side, i, side.match[i]! + step, wanted)) return true;
  return false;
}

function rematch({ lines, match, free }: Match, i: number, j: number, wanted: string): boolean {
  if (!free[j] || lines[j]?.text !== wanted) return false;
  free[match[i]!] = 1;
  free[j] = 0;
  match[i] = j;
  return true;
}

/** `region`: the number of shared lines before it. `sharedBefore`: the text of the last of these. */
type Added = { readonly line: Line; readonly region: number; readonly sharedBefore: string; isJoined: boolean };

/** Joins lines that both versions added: equal lines, and a line that continues the other in the same place. */
function joinAdded(mine: readonly Line[], theirs: readonly Line[], unitOf: Map<Line, Unit>): void {
  const fromMine = addedLines(mine, unitOf, (unit) => unit.theirs === null && unit.base === null);
  const fromTheirs = addedLines(theirs, unitOf, () => false);
  const join = (own: Added, other: Added): void => {
    const unit = unitOf.get(own.line)!;
    unit.theirs = other.line;
    unitOf.set(other.line, unit);
    own.isJoined = true;
    other.isJoined = true;
  };

  const byContent = Map.groupBy(fromMine, ({ line }) => contentKey(line));
  const byText = Map.groupBy(fromMine, ({ line }) => line.text);
  for (const other of fromTheirs) {
    const { line } = other;
    const isSamePlace = (own: Added): boolean => {
      const before = theirs[line.index - 1];
      const parent = parentOf(line);
      const ownParent = parentOf(own.line);
      return (
        isAroundEqual(own, other) ||
        (before !== undefined && unitOf.get(before) === unitOf.get(mine[own.line.index - 1]!)) ||
        (parent !== null && ownParent !== null && unitOf.get(parent.head!) === unitOf.get(ownParent.head!))
      );
    };
    const own = findFree(byContent.get(contentKey(line)), isSamePlace) ?? findFree(byText.get(line.text), isSamePlace);
    if (own) join(own, other);
  }

  const byRegion = Map.groupBy(fromMine, ({ region }) => region);
  for (const other of fromTheirs) {
    if (other.isJoined) continue;
    const own = findFree(byRegion.get(other.region), ({ line }) => isContinued(line, other.line));
    if (own) join(own, other);
  }
}

/** A line is shared if all versions have it in the same order. */
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

/** Of two equal lines in a row either may be the shared one. */
function isAroundEqual(own: Added, other: Added): boolean {
  if (Math.abs(own.region - other.region) > 1) return false;
  const later = own.region > other.region ? own : other;
  return own.region === other.region || later.sharedBefore === other.line.text;
}

function findFree(candidates: Added[] | undefined, isWanted: (added: Added) => boolean): Added | undefined {
  if (!candidates) return undefined;
  // Joined lines at the front are not looked at again: equal lines are joined in order.
  while (candidates[0]?.isJoined) candidates.shift();
  return candidates.slice(0, MAX_COMPARED).find((added) => !added.isJoined && isWanted(added));
}

function isContinued(a: Line, b: Line): boolean {
  const [short, long] = a.text.length < b.text.length ? [a, b] : [b, a];
  if (isBlank(short) || short.tag === 'pre' || long.tag === 'pre') return false;
  const beginning = short.text.trim();
  return beginning.length >= MIN_PREFIX_LENGTH && long.text.trimStart().startsWith(beginning);
}

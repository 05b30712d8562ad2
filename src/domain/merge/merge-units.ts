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
  preferEqualEdits(base, [mine, inMine.match], [theirs, inTheirs.match]);
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

/**
 * If one version has both edits of a line, as after an earlier merge, its line that equals the other version's edit
 * becomes the match.
 */
function preferEqualEdits(
  base: readonly Line[],
  [mine, inMine]: readonly [readonly Line[], Int32Array],
  [theirs, inTheirs]: readonly [readonly Line[], Int32Array],
): void {
  const isFree = (match: Int32Array, length: number): Uint8Array => {
    const free = new Uint8Array(length).fill(1);
    for (const j of match) if (j !== -1) free[j] = 0;
    return free;
  };
  const rematch = (lines: readonly Line[], match: Int32Array, free: Uint8Array, i: number, wanted: Line): boolean => {
    const from = match[i]!;
    for (let j = from - REMATCH_DISTANCE; j <= from + REMATCH_DISTANCE; j += 1) {
      if (!free[j] || lines[j]?.text !== wanted.text) continue;
      free[from] = 1;
      free[j] = 0;
      match[i] = j;
      return true;
    }
    return false;
  };
  const freeMine = isFree(inMine, mine.length);
  const freeTheirs = isFree(inTheirs, theirs.length);
  base.forEach((line, i) => {
    const own = mine[inMine[i]!];
    const other = theirs[inTheirs[i]!];
    if (!own || !other || own.text === other.text || own.text === line.text || other.text === line.text) return;
    if (!rematch(mine, inMine, freeMine, i, other)) rematch(theirs, inTheirs, freeTheirs, i, own);
  });
}

type Added = { readonly line: Line; readonly region: number; isJoined: boolean };

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
    const { line, region } = other;
    const isSamePlace = (own: Added): boolean => {
      const before = theirs[line.index - 1];
      const parent = parentOf(line);
      const ownParent = parentOf(own.line);
      return (
        own.region === region ||
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

/** `region`: the number of lines before it that have kept their order in all versions. */
function addedLines(
  lines: readonly Line[],
  unitOf: ReadonlyMap<Line, Unit>,
  isAdded: (unit: Unit) => boolean,
): Added[] {
  let region = 0;
  const added: Added[] = [];
  lines.forEach((line) => {
    const unit = unitOf.get(line);
    if (!unit || isAdded(unit)) added.push({ line, region, isJoined: false });
    else if (unit.mine && unit.theirs && !unit.isMovedInMine && !unit.isMovedInTheirs) region += 1;
  });
  return added;
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

/**
 * Joins lines that both versions added: equal lines, a line that continues the other in the same place, and a long line
 * that the other contains.
 */
import { containsText } from '../merge-content.ts';
import { isBlank, parentOf, textKey, type Line, type Unit } from '../merge-lines.ts';
import { MIN_PREFIX_LENGTH } from './similar-lines.ts';

/** Of many candidates for one added line, only this many are compared. */
const MAX_COMPARED = 16;
/**
 * From this length on, equal added lines, and an added line inside another one, are joined even in different places: two
 * devices hardly ever add the same long text, so one version has the line from the other.
 */
const MIN_ANYWHERE_LENGTH = 8;

/** `region`: the number of shared lines before the added line. `sharedBefore`: the text of the last of these. */
type Added = { readonly line: Line; readonly region: number; readonly sharedBefore: string; isJoined: boolean };

/** Sets `theirs` of each unit that mine has added, if theirs has added the same or a continued line. */
export function joinAddedLines(mine: readonly Line[], theirs: readonly Line[], unitOf: Map<Line, Unit>): void {
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

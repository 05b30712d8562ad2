/** Groups the lines of the base, mine and theirs into units: the same line in each of the three. */
import { alignLines } from './align-lines.ts';
import { correctMatches, type AlignedVersion } from './correct-matches.ts';
import { joinAddedLines } from './join-added-lines.ts';
import { isBlank, textKey, type Line, type Unit } from '../merge-lines.ts';

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

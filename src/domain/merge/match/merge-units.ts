/** Groups the lines of the base, mine and theirs into units: the same line in each of the three. */
import { alignLines } from './align-lines.ts';
import { correctMatches } from './correct-matches.ts';
import { joinAddedLines } from './join-added-lines.ts';
import { matchRepeatedLines } from './match-repeated-lines.ts';
import type { Line, Unit } from '../merge-lines.ts';

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

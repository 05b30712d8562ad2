/** Decides for each unit which containers it is in and which containers begin with it. */
import { isChanged, type MergedContent } from './merge-content.ts';
import { isBlank, parentOf, type Container, type Line, type Unit } from './read-lines.ts';
import { createLogWriter, type Level } from './write-log.ts';

export type Structure = {
  /** The containers around the unit that begin with an earlier line, the outermost first. */
  readonly chain: readonly Container[];
  /** The containers that begin with the unit. */
  readonly own: readonly Level[];
};

type Side = 'mine' | 'theirs';

export type StructureMerge = {
  structureOf: (unit: Unit) => Structure;
  /** Identifies a container: equal in all versions in which the container begins with the same line. */
  keyOf: (container: Container) => string;
};

const ownOf = (line: Line): readonly Container[] => line.path.slice(line.path.length - line.ownCount);

/** The part of an item that describes its list. The first item alone carries the attributes of the list. */
type ListInfo = { isFirst: boolean; start: string | null; beginsList: boolean };
const NOT_FIRST: ListInfo = { isFirst: false, start: null, beginsList: false };

const listInfoOf = (container: Container | undefined): ListInfo =>
  container?.list && container.isFirst
    ? { isFirst: true, start: container.list.start, beginsList: container.list.isAdjacent }
    : NOT_FIRST;

const isSameInfo = (a: ListInfo, b: ListInfo): boolean =>
  a.isFirst === b.isFirst && a.start === b.start && a.beginsList === b.beginsList;

export function createStructureMerge(unitOf: ReadonlyMap<Line, Unit>): StructureMerge {
  const keyOf = (container: Container): string => `${unitOf.get(container.head!)!.id}.${container.level}`;
  const parentKey = (line: Line): string => {
    const parent = parentOf(line);
    return parent ? keyOf(parent) : '';
  };
  const tagsOf = (line: Line): string =>
    ownOf(line)
      .map(({ tag }) => tag)
      .join();

  /** The version that decides: the one that changed the value, mine if both did. */
  const decide = (unit: Unit, valueOf: (line: Line) => string): Line => {
    const { base, mine, theirs } = unit;
    if (!mine || !theirs) return (mine ?? theirs)!;
    // One version emptied the line and the other changed it: the changed line is kept (`mergeContent`), in its place.
    if (isBlank(mine) && isChanged(unit, 'theirs')) return theirs;
    if (isBlank(theirs) && isChanged(unit, 'mine')) return mine;
    return base && valueOf(mine) === valueOf(base) ? theirs : mine;
  };

  const structureOf = (unit: Unit): Structure => {
    const parentLine = decide(unit, parentKey);
    const ownLine = decide(unit, tagsOf);
    const ofBase = unit.base && ownOf(unit.base);
    const ofMine = unit.mine && ownOf(unit.mine);
    const ofTheirs = unit.theirs && ownOf(unit.theirs);
    const own = ownOf(ownLine).map((container): Level => {
      const at = ({ length }: readonly Container[]): number => length - 1 - container.level;
      const [base, mine, theirs] = [ofBase, ofMine, ofTheirs].map((level) => level && listInfoOf(level[at(level)]));
      const isMineKept = !theirs || (mine && !(base && isSameInfo(mine, base)));
      const { start, beginsList } = (isMineKept ? mine : theirs)!;
      return { tag: container.tag, key: `${unit.id}.${container.level}`, start, beginsList };
    });
    return { chain: parentLine.path.slice(0, parentLine.path.length - parentLine.ownCount), own };
  };
  return { structureOf, keyOf };
}

/**
 * Gives each line that only this version added the containers of its neighbours, if the other version has put these
 * neighbours into another list, item or quote.
 */
export function adoptAddedLines(
  lines: readonly Line[],
  side: Side,
  unitOf: ReadonlyMap<Line, Unit>,
  structures: Map<Unit, Structure>,
  keyOf: (container: Container) => string,
): void {
  const other = side === 'mine' ? 'theirs' : 'mine';
  const isShared = (line: Line): boolean => unitOf.get(line)![other] !== null;
  const isContained = (line: Line, container: Container): boolean => {
    const { chain, own } = structures.get(unitOf.get(line)!)!;
    const key = keyOf(container);
    return own.some((level) => level.key === key) || chain.some((ancestor) => keyOf(ancestor) === key);
  };

  /** For each line the nearest following sibling (`placeOf`) that both versions have. */
  const next: (Line | undefined)[] = [];
  const following = new Map<unknown, Line>();
  for (const line of lines.toReversed()) {
    const place = placeOf(line);
    next[line.index] = following.get(place);
    if (isShared(line)) following.set(place, line);
  }
  const before = new Map<unknown, Line>();
  let last: Line | undefined;
  for (const line of lines) {
    const unit = unitOf.get(line)!;
    const place = placeOf(line);
    if (isShared(line)) {
      before.set(place, line);
      last = line;
    } else if (unit.base === null) {
      const own = structures.get(unit)!;
      const sibling = next[line.index];
      const parent = sibling && structures.get(unitOf.get(sibling)!)!.chain.at(-1);
      const isInside = parent !== undefined && last !== undefined && isContained(last, parent);
      const model = structures.get(unitOf.get((isInside ? sibling : before.get(place)) ?? sibling ?? line)!)!;
      const chain = isInside ? structures.get(unitOf.get(sibling!)!)!.chain : own.chain;
      structures.set(unit, { chain, own: withTagsOf(own.own, model.own) });
    }
  }
}

/** Lines with the same place are siblings: in the same list, or directly in the same container. */
const placeOf = (line: Line): unknown => ownOf(line)[0]?.list ?? parentOf(line) ?? 'root';

/** Gives the first list of `own` the tag of the list of `model`: the other version may have changed `ol` to `ul`. */
function withTagsOf(own: readonly Level[], model: readonly Level[]): readonly Level[] {
  const [first, ...rest] = own;
  const tag = model[0]?.tag;
  if (!first || !tag || first.tag === 'blockquote' || tag === 'blockquote') return own;
  return [{ ...first, tag }, ...rest];
}

// Writes the merged units in their order, each in its containers as far as they still exist.

export type MergedUnit = { readonly unit: Unit; readonly structure: Structure; readonly content: MergedContent };

/** `lineOf`: the index of the unit's line in the written log. */
type WrittenLog = { html: string; lineOf: ReadonlyMap<Unit, number> };

export function writeUnits(
  units: readonly MergedUnit[],
  unitOf: ReadonlyMap<Line, Unit>,
  keyOf: (container: Container) => string,
): WrittenLog {
  const writer = createLogWriter();
  const isKept = new Set(units.map(({ unit }) => unit));
  const parents = new Set(
    units.map(({ structure }) => structure.chain.at(-1)?.head).map((head) => head && unitOf.get(head)),
  );
  const lineOf = new Map<Unit, number>();
  let lines = 0;

  const isOpen = (container: Container, depth: number): boolean =>
    writer.open[depth]?.tag !== undefined && isSameKind(writer.open[depth].tag, container.tag);

  const place = ({ chain, own }: Structure): { depth: number; levels: readonly Level[] } => {
    const keys = new Map(writer.open.map(({ key }, index) => [key, index + 1]));
    const deepest = chain.findLastIndex((container) => keys.has(keyOf(container)));
    const depth = deepest === -1 ? 0 : keys.get(keyOf(chain[deepest]!))!;
    const missing = chain.slice(deepest + 1);
    const parent = missing.at(-1);
    // The parent was written, but a later line closed its container. The line keeps its depth, in the container that
    // is open there now.
    const isDisplaced = parent && isKept.has(unitOf.get(parent.head!)!);
    if (isDisplaced && missing.every((container, index) => isOpen(container, depth + index)))
      return { depth: depth + missing.length, levels: own };
    const levels = missing.map((container) => levelOf(container, keyOf(container)));
    return { depth, levels: levels.reduceRight(wrapLevels, own) };
  };

  const writeOther = (structure: Structure, { other }: MergedContent): void => {
    if (!other) return;
    const { depth, levels } = place(structure);
    // New keys, so that lines inside the unit's containers stay with the version of mine.
    const own = levels.map((level) => ({ ...level, key: `${level.key}.other` }));
    writer.add(depth, own, other.tag, other.html);
    lines += 1;
  };

  for (const { unit, structure, content } of units) {
    // The version of mine comes first, unless it has nested lines, which must follow it directly.
    const isParent = parents.has(unit);
    if (isParent) writeOther(structure, content);
    const { depth, levels } = place(structure);
    writer.add(depth, levels, content.content.tag, content.content.html);
    lineOf.set(unit, lines++);
    if (!isParent) writeOther(structure, content);
  }
  return { html: writer.end(), lineOf };
}

const isSameKind = (a: Level['tag'] | null, b: Level['tag']): boolean => (a === 'blockquote') === (b === 'blockquote');

const levelOf = ({ tag, list, isFirst }: Container, key: string): Level => ({
  tag,
  key,
  start: isFirst ? (list?.start ?? null) : null,
  beginsList: false,
});

/** If the first line of the item `outer` was deleted, the first item inside takes the place of `outer`. */
function wrapLevels(inner: readonly Level[], outer: Level): readonly Level[] {
  const [first, ...rest] = inner;
  if (!first || first.tag === 'blockquote' || outer.tag === 'blockquote') return [outer, ...inner];
  return [{ ...outer, key: first.key }, ...rest];
}

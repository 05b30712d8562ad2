/** Writes the merged units in their order, each in its containers as far as they still exist. */
import type { Container, Line, Unit } from './merge-lines.ts';
import type { MergedContent } from './merge-content.ts';
import type { Structure } from './merge-structure.ts';
import { createLogWriter, type Level } from './write-log.ts';

export type MergedUnit = { readonly unit: Unit; readonly structure: Structure; readonly content: MergedContent };

/** `lineOf`: the index of the unit's line in the written log. `otherLineOf`: that of theirs, if both edits are kept. */
export type WrittenLog = { html: string; lineOf: ReadonlyMap<Unit, number>; otherLineOf: ReadonlyMap<Unit, number> };

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
  const otherLineOf = new Map<Unit, number>();
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

  const writeOther = (unit: Unit, structure: Structure, { other }: MergedContent): void => {
    if (!other) return;
    const { depth, levels } = place(structure);
    // New keys, so that lines inside the unit's containers stay with the version of mine.
    const own = levels.map((level) => ({ ...level, key: `${level.key}.other` }));
    writer.add(depth, own, other.tag, other.html);
    otherLineOf.set(unit, lines++);
  };

  for (const { unit, structure, content } of units) {
    // The version of mine comes first, unless it has nested lines, which must follow it directly.
    const isParent = parents.has(unit);
    if (isParent) writeOther(unit, structure, content);
    const { depth, levels } = place(structure);
    writer.add(depth, levels, content.content.tag, content.content.html);
    lineOf.set(unit, lines++);
    if (!isParent) writeOther(unit, structure, content);
  }
  return { html: writer.end(), lineOf, otherLineOf };
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

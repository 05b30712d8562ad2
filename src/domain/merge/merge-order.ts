/** Orders the units as `mine` does. Lines that `theirs` added or moved come after the line that they follow there. */
import type { Container, Line, Unit } from './merge-lines.ts';
import type { Structure } from './merge-structure.ts';

type Node = { unit: Unit | null; before: Node | null; after: Node | null };

/** A log nests at most this many containers. A longer chain of parents is a cycle, made by two contradicting moves. */
const MAX_CHAIN = 100;

type Order = {
  mine: readonly Line[];
  theirs: readonly Line[];
  unitOf: ReadonlyMap<Line, Unit>;
  /** Units without a structure were deleted. */
  structures: ReadonlyMap<Unit, Structure>;
};

export function orderUnits({ mine, theirs, unitOf, structures }: Order): Unit[] {
  const first: Node = { unit: null, before: null, after: null };
  const nodes = new Map<Unit, Node>();
  const headOf = (container: Container | undefined): Unit | null => (container ? unitOf.get(container.head!)! : null);
  const parentOf = (unit: Unit): Unit | null => headOf(structures.get(unit)?.chain.at(-1));
  const isInside = (unit: Unit, container: Unit | null): boolean => {
    let at: Unit | null = unit;
    for (let steps = 0; at !== null && at !== container && steps < MAX_CHAIN; steps += 1) at = parentOf(at);
    return at === container;
  };
  const isMovedByTheirs = (unit: Unit): boolean => unit.isMovedInTheirs && !unit.isMovedInMine && unit.theirs !== null;
  const link = (from: Node, to: Node, after: Node): void => {
    [to.after, from.before] = [after.after, after];
    if (after.after) after.after.before = to;
    after.after = from;
  };

  let last = first;
  for (const line of mine) {
    const unit = unitOf.get(line)!;
    if (!structures.has(unit)) continue;
    const node: Node = { unit, before: null, after: null };
    link(node, node, last);
    nodes.set(unit, node);
    last = node;
  }

  /** Removes a unit that theirs moved, and the following lines that mine added inside it. Returns the last of them. */
  const unlink = (from: Node): Node => {
    let to = from;
    for (let next = to.after?.unit; next && next.theirs === null; next = to.after?.unit) {
      const parent = parentOf(next);
      if (parent === null || !isMovedByTheirs(parent)) break;
      to = to.after!;
    }
    from.before!.after = to.after;
    if (to.after) to.after.before = from.before;
    return to;
  };

  /**
   * The nearest earlier line of theirs that mine has not moved. The parent of the line, and lines that mine moved
   * together with this parent, count too.
   */
  const lineBefore = (index: number, parent: Unit | null): Node => {
    for (let at = index - 1; at >= 0; at -= 1) {
      const unit = unitOf.get(theirs[at]!)!;
      const node = nodes.get(unit);
      if (!node) continue;
      const isWithParent = parent?.isMovedInMine === true && isInside(unit, parent);
      if (!unit.isMovedInMine || unit === parent || isWithParent) return node;
    }
    return first;
  };

  for (const line of theirs) {
    const unit = unitOf.get(line)!;
    if (!structures.has(unit)) continue;
    const placed = nodes.get(unit);
    if (placed && !isMovedByTheirs(unit)) continue;
    const from = placed ?? { unit, before: null, after: null };
    const to = placed ? unlink(placed) : from;
    const parent = parentOf(unit);
    let after = lineBefore(line.index, parent);
    // Lines that mine added at the same place come first.
    for (let next = after.after?.unit; next && next.theirs === null; next = after.after?.unit) {
      if (!isInside(next, parent)) break;
      after = after.after!;
    }
    link(from, to, after);
    nodes.set(unit, from);
  }

  const ordered: Unit[] = [];
  for (let node = first.after; node; node = node.after) ordered.push(node.unit!);
  return ordered;
}

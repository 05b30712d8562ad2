/**
 * Three-way merge of a log: two versions that were edited independently, against their common base. Pure. The number
 * of comparisons per line is bounded, so long logs merge quickly too (docs/specification/days-and-saving.md 13).
 */
import { containsText, isChanged, isNotable, mergeContent, type MergedContent } from './merge-content.ts';
import { isBlank, readLines, type Line, type Unit, type Container } from './read-lines.ts';
import { adoptAddedLines, createStructureMerge, writeUnits, type Structure } from './merge-structure.ts';
import { createUnits } from './match/merge-units.ts';

/** A line whose merge the user should know of. The texts are plain; `line` counts the text blocks of the merged log. */
export type MergeDoubt =
  /** Both versions edited the line: both edits are in the log, one directly after the other. */
  | { kind: 'editedTwice'; mine: string; theirs: string; line: number }
  /** One version edited a line that the other deleted: the edit is in the log. */
  | { kind: 'editedAndDeleted'; text: string; line: number };

/**
 * Where a line of mine is in the merged log: `line` is its number there, `before` its text in mine, `after` its text in
 * the merged log. For a line that the merge deleted, `before` is null, and `line` and `after` describe the nearest line
 * above that the merge kept. Without such a line they are 0 and empty.
 */
export type MappedLine = { readonly line: number; readonly before: string | null; readonly after: string };

export type LogMerge = {
  readonly html: string;
  readonly doubts: readonly MergeDoubt[];
  /** True if both versions edited too many of the same lines to merge them: the user should choose a version. */
  readonly isDoubtful: boolean;
  /** For `mapPosition`, indexed by the lines of mine. Null if the HTML of mine was returned unchanged. */
  readonly mappedLines: readonly MappedLine[] | null;
};

const MIN_DOUBTFUL_LINES = 4;

/**
 * Merges clean logs (`isCleanLog`) without a date header. If only one version has changed, or both are equal, its HTML
 * is returned unchanged.
 */
export function mergeLogs(base: string, mine: string, theirs: string): LogMerge {
  if (theirs === base || mine === theirs) return { html: mine, doubts: [], isDoubtful: false, mappedLines: null };
  const merged = mergeLines(base, mine, theirs);
  return mine === base ? { ...merged, html: theirs } : merged;
}

/** `mergeLogs` without its shortcuts. */
export function mergeLines(baseHtml: string, mineHtml: string, theirsHtml: string): LogMerge {
  const mine = readLines(mineHtml);
  const theirs = readLines(theirsHtml);
  const { all, unitOf } = createUnits(readLines(baseHtml), mine, theirs);
  const { structureOf, keyOf } = createStructureMerge(unitOf);
  const structures = new Map<Unit, Structure>();
  for (const unit of all) if (isKept(unit)) structures.set(unit, structureOf(unit));
  adoptAddedLines(mine, 'mine', unitOf, structures, keyOf);
  adoptAddedLines(theirs, 'theirs', unitOf, structures, keyOf);

  const contents = new Map<Unit, MergedContent>();
  const units = orderUnits({ mine, theirs, unitOf, structures }).map((unit) => {
    const content = mergeContent(unit);
    contents.set(unit, content);
    return { unit, structure: structures.get(unit)!, content };
  });
  const { html, lineOf } = writeUnits(units, unitOf, keyOf);
  const doubts = units.flatMap(({ unit, content }) => doubtOf(unit, content, lineOf.get(unit)!));
  const editedTwice = doubts.filter(({ kind }) => kind === 'editedTwice').length;
  const shared = units.filter(({ unit }) => unit.base && unit.mine && unit.theirs).length;
  return {
    html,
    doubts,
    isDoubtful: editedTwice >= MIN_DOUBTFUL_LINES && editedTwice * 2 > shared,
    mappedLines: mapLines(mine, unitOf, lineOf, contents),
  };
}

/** A line that one version deleted stays if the other version changed it. */
function isKept(unit: Unit): boolean {
  const { base, mine, theirs } = unit;
  if (!base || (mine && theirs)) return true;
  const line = mine ?? theirs;
  return line !== null && !isBlank(line) && isChanged(unit, mine ? 'mine' : 'theirs');
}

function doubtOf({ base, mine, theirs }: Unit, { other, content }: MergedContent, line: number): MergeDoubt[] {
  if (!isNotable(base)) return [];
  if (other) return [{ kind: 'editedTwice', mine: content.text, theirs: other.text, line }];
  const edited = mine ?? theirs!;
  if ((mine && theirs) || containsText(base.text, edited.text)) return [];
  return [{ kind: 'editedAndDeleted', text: edited.text, line }];
}

function mapLines(
  mine: readonly Line[],
  unitOf: ReadonlyMap<Line, Unit>,
  lineOf: ReadonlyMap<Unit, number>,
  contents: ReadonlyMap<Unit, MergedContent>,
): MappedLine[] {
  let last: MappedLine = { line: 0, before: null, after: '' };
  return mine.map((line) => {
    const unit = unitOf.get(line)!;
    const content = contents.get(unit)?.content;
    if (!content) return last;
    const mapped = { line: lineOf.get(unit)!, before: line.text, after: content.text };
    last = { ...mapped, before: null };
    return mapped;
  });
}

/** Says which lines the merge of two versions of a day kept twice, or kept although one version deleted them. */
export function mergeMessage(doubts: readonly Pick<MergeDoubt, 'kind'>[]): string {
  const count = (kind: MergeDoubt['kind']): number => doubts.filter((doubt) => doubt.kind === kind).length;
  const [twice, deleted] = [count('editedTwice'), count('editedAndDeleted')];
  return [
    twice === 1 && 'A line was edited here and somewhere else. Both versions are kept, one below the other.',
    twice > 1 &&
      `${twice} lines were edited here and somewhere else. Both versions of each are kept, one below the other.`,
    deleted === 1 && 'A line was edited on one device and deleted on another. The edited line is kept.',
    deleted > 1 && `${deleted} lines were edited on one device and deleted on another. The edited lines are kept.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * `line` counts the text blocks of a log in document order (paragraphs, headings, code blocks). `offset` counts UTF-16
 * units within the block; a `<br>` is one. These are the text blocks of the editor and the offsets inside them.
 */
export type LogPosition = { readonly line: number; readonly offset: number };

/** Maps the caret from the user's version of a log to the merged log. */
export function mapPosition({ mappedLines }: Pick<LogMerge, 'mappedLines'>, position: LogPosition): LogPosition {
  if (!mappedLines) return position;
  const mapped = mappedLines[Math.min(position.line, mappedLines.length - 1)];
  if (!mapped) return { line: 0, offset: 0 };
  return { line: mapped.line, offset: mapOffset(mapped.before, mapped.after, position.offset) };
}

/**
 * If `after` contains `before`, the caret stays at its letter. Otherwise the caret keeps its distance to the start
 * within the common prefix, and to the end within the common suffix. Between the two, it moves to the suffix's start.
 */
function mapOffset(before: string | null, after: string, offset: number): number {
  if (before === null) return after.length;
  const at = Math.min(Math.max(offset, 0), before.length);
  const inside = before === '' ? -1 : after.indexOf(before);
  if (inside !== -1) return inside + at;
  const limit = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < limit && before[prefix] === after[prefix]) prefix += 1;
  if (at <= prefix) return at;
  let suffix = 0;
  while (suffix < limit - prefix && before.at(-1 - suffix) === after.at(-1 - suffix)) suffix += 1;
  if (at >= before.length - suffix) return at + after.length - before.length;
  return after.length - suffix;
}

// Orders the units as `mine` does. Lines that `theirs` added or moved come after the line that they follow there.

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

function orderUnits({ mine, theirs, unitOf, structures }: Order): Unit[] {
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

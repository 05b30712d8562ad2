/**
 * Three-way merge of a log: two versions that were edited independently, against their common base. Pure. The number
 * of comparisons per line is bounded, so long logs merge quickly too (docs/specification/days-and-saving.md 6).
 */
import { containsText, isChanged, isNotable, mergeContent, type MergedContent } from './merge-content.ts';
import { isBlank, readLines, type Line, type Unit } from './merge-lines.ts';
import { orderUnits } from './merge-order.ts';
import { adoptAddedLines, createStructureMerge, type Structure } from './merge-structure.ts';
import { createUnits } from './match/merge-units.ts';
import { writeUnits } from './write-units.ts';

/** A line whose merge the user should know of. The texts are plain; `line` counts the text blocks of the merged log. */
export type MergeDoubt =
  /** Both versions edited the line: both edits are in the log, one directly after the other. */
  | { kind: 'editedTwice'; mine: string; theirs: string; line: number }
  /** One version edited a line that the other deleted: the edit is in the log. */
  | { kind: 'editedAndDeleted'; editedBy: 'mine' | 'theirs'; text: string; line: number };

/**
 * Where a line of mine is in the merged log: `line` is its number there, `before` its text in mine, `after` its text in
 * the merged log. For a line that the merge deleted, `before` is null, and `line` and `after` describe the nearest line
 * above that the merge kept. Without such a line they are 0 and empty.
 */
export type MappedLine = { readonly line: number; readonly before: string | null; readonly after: string };

export type LogMerge = {
  readonly html: string;
  readonly doubts: readonly MergeDoubt[];
  /** True if both versions edited so many of the same lines that the user should choose one of the versions. */
  readonly isDoubtful: boolean;
  /** For `mapPosition`, indexed by the lines of mine; null if the merged log is mine. */
  readonly mappedLines: readonly MappedLine[] | null;
};

const MIN_DOUBTFUL_LINES = 4;

/**
 * Clean logs without a date header (`isCleanLog`). If the merged log equals `mine` or `theirs`, the HTML is returned
 * unchanged.
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
  return [{ kind: 'editedAndDeleted', editedBy: mine ? 'mine' : 'theirs', text: edited.text, line }];
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

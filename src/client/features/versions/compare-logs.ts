/** Compares two texts of a log line by line, and changed lines word by word. */
import { diffArrays, type ChangeObject } from 'diff';
import { isItem, logLines } from '#domain/log/log-lines.ts';
import { isHeading } from '#domain/log/log-outline.ts';

export type Change = 'same' | 'removed' | 'added';
export type Part = { readonly change: Change; readonly text: string };
/** A line of the later text, or a removed one. An edited line has parts of more than one kind. */
export type ComparedLine = {
  readonly change: Change | 'edited';
  /** `2.` or `•` in a list, otherwise empty. */
  readonly marker: string;
  /** The number of lists and quotes around the line. */
  readonly depth: number;
  readonly isHeading: boolean;
  readonly parts: readonly Part[];
};

/**
 * After this time, the rest is compared more coarsely: a full comparison of two long, different logs would take
 * minutes. Threat: a user pastes a text that someone wrote to be slow to compare. Without the limit it would freeze the
 * page.
 */
const TIMEOUT_MS = 400;
/** Returns the milliseconds that remain of `TIMEOUT_MS`; 0 once they have passed. */
type TimeLeft = () => number;
/**
 * Each added line of a block can be compared with every removed line, so the block is limited: the lines of a longer
 * block are shown as removed and added.
 */
const MAX_PAIRED_LINES = 60;
/** The share of common words from which two lines count as one line that was edited. */
const MIN_SIMILARITY = 0.5;

type Line = Omit<ComparedLine, 'change' | 'parts'> & { readonly text: string };

function readLines(html: string): Line[] {
  return logLines(html)
    .filter(({ text }) => text.trim() !== '')
    .map((line) => {
      const item = line.path.findLast(isItem);
      // A bullet instead of the hyphen in `item.marker`, which would look like the minus sign of a removed line.
      const marker = item ? (item.list.ordered ? item.marker : '•') : '';
      return { text: line.text, marker, depth: line.path.length, isHeading: isHeading(line) };
    });
}

/** The changes that lead from `earlier` to `later`. */
export function compareLogs(earlier: string, later: string): ComparedLine[] {
  const endsAt = Date.now() + TIMEOUT_MS;
  const timeLeft: TimeLeft = () => Math.max(0, endsAt - Date.now());
  const [before, after] = [readLines(earlier), readLines(later)];
  const compared: ComparedLine[] = [];
  let [oldIndex, newIndex] = [0, 0];
  let removed: Line[] = [];
  const changes: Pick<ChangeObject<string[]>, 'added' | 'removed' | 'count'>[] = diffArrays(
    before.map(({ text }) => text),
    after.map(({ text }) => text),
    { timeout: timeLeft() },
  ) ?? [
    { removed: true, added: false, count: before.length },
    { removed: false, added: true, count: after.length },
  ];
  for (const { added, removed: isRemoved, count } of changes) {
    if (isRemoved) {
      removed = before.slice(oldIndex, (oldIndex += count));
      continue;
    }
    const lines = after.slice(newIndex, (newIndex += count));
    compared.push(
      ...(added
        ? pairLines(removed, lines, timeLeft)
        : [...wholeLines('removed', removed), ...wholeLines('same', lines)]),
    );
    if (!added) oldIndex += count;
    removed = [];
  }
  return [...compared, ...wholeLines('removed', removed)];
}

export const hasChanges = (lines: readonly ComparedLine[]): boolean => lines.some(({ change }) => change !== 'same');

const wholeLine = (change: Change, { text, ...line }: Line): ComparedLine => ({
  ...line,
  change,
  parts: [{ change, text }],
});
const wholeLines = (change: Change, lines: readonly Line[]): ComparedLine[] =>
  lines.map((line) => wholeLine(change, line));

/** Shows a removed line and a similar added one as one edited line, in the order of the later text. */
function pairLines(removed: readonly Line[], added: readonly Line[], timeLeft: TimeLeft): ComparedLine[] {
  const isLong = removed.length > MAX_PAIRED_LINES || added.length > MAX_PAIRED_LINES;
  const compared: ComparedLine[] = [];
  const removedWords = isLong ? [] : removed.map(({ text }) => splitWords(text));
  let [firstRemoved, firstAdded] = [0, 0];
  for (const [place, line] of isLong ? [] : added.entries()) {
    if (timeLeft() === 0) break;
    const words = splitWords(line.text);
    const match = removedWords.findIndex(
      (old, index) => index >= firstRemoved && similarity(old, words) >= MIN_SIMILARITY,
    );
    if (match === -1) continue;
    compared.push(
      ...wholeLines('removed', removed.slice(firstRemoved, match)),
      ...wholeLines('added', added.slice(firstAdded, place)),
      editedLine(removedWords[match]!, words, line, timeLeft),
    );
    [firstRemoved, firstAdded] = [match + 1, place + 1];
  }
  return [
    ...compared,
    ...wholeLines('removed', removed.slice(firstRemoved)),
    ...wholeLines('added', added.slice(firstAdded)),
  ];
}

function editedLine(
  before: readonly string[],
  after: readonly string[],
  { text, ...line }: Line,
  timeLeft: TimeLeft,
): ComparedLine {
  const parts = diffArrays([...before], [...after], { timeout: timeLeft() })?.map(
    ({ added, removed, value }): Part => ({
      change: added ? 'added' : removed ? 'removed' : 'same',
      text: value.join(''),
    }),
  );
  const whole: Part[] = [
    { change: 'removed', text: before.join('') },
    { change: 'added', text },
  ];
  return { ...line, change: 'edited', parts: parts ?? whole };
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Splits a text into its words and the text between them, also in languages that are written without spaces. */
const splitWords = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

/** The share of the words of both lines that they have in common, from 0 to 1. */
function similarity(before: readonly string[], after: readonly string[]): number {
  const [left, right] = [before.filter(isWord), after.filter(isWord)];
  const counts = new Map<string, number>();
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of right) {
    const count = counts.get(word) ?? 0;
    if (count > 0) common += 1;
    counts.set(word, count - 1);
  }
  return (2 * common) / Math.max(1, left.length + right.length);
}

const isWord = (segment: string): boolean => /[\p{L}\p{N}]/u.test(segment);

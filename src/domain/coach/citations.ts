/**
 * How the coach names a line of a log: by what the page shows. That is the line's number (`3`, or `3.2` for an item of a
 * list inside item 3), or its first words where it has no number or the page shows the same number twice.
 * Prompt, reply parser, export and benchmark share this rule.
 */
import { isItem, logLines } from '../export/log-lines.ts';
import type { Line } from '../export/log-lines.ts';
import { isHeading } from '../log/log-outline.ts';
import { plainWords } from './strip-invisible.ts';

/** `ref` is what stands in the brackets of a citation; null for a line that no citation can name, such as `---`. */
export type CitableLine = { readonly ref: string | null; readonly text: string; readonly isHeading: boolean };
/** A line that a feedback cites. `line` is its place among the lines of the log that hold text, from 1. */
export type Citation = { readonly ref: string; readonly line: number };

/** Of a line's words, so many name it; more where other lines begin alike. Characters are counted as code points. */
const REF_WORDS = { usual: 6, most: 14 } as const;
const REF_CHARS = { usual: 40, most: 80 } as const;
/** Longer brackets are no citation. With room for several lines in one. */
export const MAX_CITATION = 200;

/** Has a meaning in a citation, in Markdown or in the JSON of a prompt, so no ref contains it. */
const SIGNS = /[\s[\]()*_`<>|~#!"“”„«»\\,;]+/gu;
const NUMBER = /^(?:items?\s)?(\d{1,7}(?:\.\d{1,7}){0,40})\.?$/i;

/** The lines of a log that hold text, in order, each with its ref. Refs of different lines differ, unless their words are the same. */
export function citableLines(html: string): CitableLine[] {
  const lines = logLines(html);
  const numbers = lines.map((line, index) => pageNumber(line, lines[index - 1]));
  const counts = countEach(numbers);
  const kept = lines
    .map((line, index) => ({ line, text: plainWords(line.text).trim(), number: numbers[index]! }))
    .filter(({ line }) => line.text.trim() !== '');
  const starts = countEach(kept.flatMap(({ text }) => startsOf(text)));
  return kept.map(({ line, text, number }) => ({
    ref: number !== '' && counts.get(number) === 1 ? number : firstWords(text, starts),
    text,
    isHeading: isHeading(line),
  }));
}

/** `3.2` for the first line of an item whose lists are all numbered; otherwise empty. */
function pageNumber({ path }: Line, before: Line | undefined): string {
  const items = path.filter(isItem);
  const innermost = items.at(-1);
  if (!innermost || before?.path.includes(innermost)) return '';
  const numbers = items.map(({ list, marker }) => (list.ordered ? marker.slice(0, -1) : ''));
  return numbers.every((number) => /^\d+$/.test(number)) ? numbers.join('.') : '';
}

/** Every beginning of a line that may name it, the usual one first. */
function startsOf(text: string): string[] {
  const words = text.replaceAll(SIGNS, ' ').trim().split(' ');
  const starts: string[] = [];
  for (let count = REF_WORDS.usual; count <= REF_WORDS.most; count += 1) {
    const longest = count === REF_WORDS.usual ? REF_CHARS.usual : REF_CHARS.most;
    const start = cutAt(words.slice(0, count).join(' '), longest);
    // What reads as a number, or as nothing, names no line.
    if (!/\p{L}/u.test(start) || NUMBER.test(start)) continue;
    if (start !== starts.at(-1)) starts.push(start);
  }
  return starts;
}

/** The shortest beginning that no other line has. Lines that do not differ in it share the longest. */
function firstWords(text: string, starts: ReadonlyMap<string, number>): string | null {
  const own = startsOf(text);
  return own.find((start) => starts.get(start) === 1) ?? own.at(-1) ?? null;
}

/** At the end of a word, where the language has blanks between words. */
function cutAt(text: string, longest: number): string {
  const signs = Array.from(text);
  if (signs.length <= longest) return text;
  const cut = signs.slice(0, longest + 1).join('');
  return cut.includes(' ') ? cut.replace(/ \S*$/u, '') : signs.slice(0, longest).join('');
}

function countEach(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Finds the cited line by what a model wrote in the brackets: the ref, or any unambiguous beginning of the line's words. */
export type FindCited = (written: string) => Citation | null;

export function citedIn(lines: readonly CitableLine[]): FindCited {
  const byRef = new Map<string, Citation>();
  const words: (readonly [string, Citation])[] = [];
  for (const [index, { ref, text }] of lines.entries()) {
    if (ref === null) continue;
    const citation = { ref, line: index + 1 };
    if (!byRef.has(keyOf(ref))) byRef.set(keyOf(ref), citation);
    words.push([keyOf(text.slice(0, MAX_CITATION)), citation]);
  }
  return (written) => {
    const key = keyOf(written);
    const found = byRef.get(key);
    if (found || key.length < MIN_START || isNumber(key)) return found ?? null;
    const beginning = words.filter(([text]) => text.startsWith(key));
    return beginning.length === 1 ? beginning[0]![1] : null;
  };
}

/** Of a beginning that names a line although it is not its ref. */
const MIN_START = 8;

const isNumber = (text: string): boolean => NUMBER.test(text.trim());

function keyOf(text: string): string {
  const plain = plainWords(text).replaceAll(SIGNS, ' ').trim().toLowerCase();
  const words = plain.replace(/(?:…|\.{2,})$/u, '');
  return NUMBER.exec(words)?.[1] ?? words;
}

/** Begins at the first of the blanks before it and nowhere within them: many blanks would take quadratic time. */
const CITATION = new RegExp(`(?<![ \\t])([ \\t]*)\\[([^\\[\\]\\n]{1,${MAX_CITATION}})\\]`, 'g');
/** What the next piece of a text may still make one, with the blanks before it. */
export const OPEN_CITATION = new RegExp(`(?<!\\s)\\s*(?:\\[[^\\[\\]\\n]{0,${MAX_CITATION}})?$`);

/** Calls `replace` for what stands in each pair of brackets, with its parts between the commas; null leaves it as it is. */
function replaceCitations(text: string, replace: (parts: string[]) => string | null): string {
  return text.replaceAll(CITATION, (whole, blanks: string, inside: string) => {
    const replaced = replace(inside.split(/[,;]/).map((part) => part.trim()));
    return replaced === null ? whole : replaced === '' ? '' : `${blanks}${replaced}`;
  });
}

/** `[2, 99]` of 12 items becomes `[2]`, `[99]` goes, and `[sic]` stays. Every citation is written as its ref. */
export function withKnownCitations(text: string, find: FindCited): { text: string; cited: Citation[] } {
  const cited: Citation[] = [];
  const known = replaceCitations(text, (parts) => {
    const found = parts.flatMap((part) => find(part) ?? []);
    if (found.length === 0) return parts.every(isNumber) ? '' : null;
    cited.push(...found);
    return `[${[...new Set(found.map(({ ref }) => ref))].join(', ')}]`;
  });
  return { text: known, cited };
}

/** As they are stored: places and names apart. Without names see `withLinePlaces`. */
export const citationsOf = (lines: readonly number[], refs: readonly string[] | null): Citation[] =>
  lines.map((line, index) => ({ line, ref: refs?.[index] ?? linePlace(line) }));

/**
 * Analyses that were made before citations named what the page shows have the place of a line among all lines. Their
 * `[4]` is shown as `[line 4]`, which is true whatever number the page has there.
 */
export const withLinePlaces = (text: string): string =>
  replaceCitations(text, (parts) => (parts.every(isNumber) ? `[${parts.map(linePlace).join(', ')}]` : null));

const linePlace = (line: number | string): string => `line ${line}`;

/**
 * Citations of lines of a log. The coach cites a line by its ref: the list number that the page shows (`3`, or `3.2`
 * for an item nested in item 3), or the line's first words if it has no number or the number is not unique. The prompt,
 * the reply parser and the feedback panel share this rule. The numbers come from `logLines`, like those of the text
 * export.
 */
import { isItem, logLines, type Line } from '../log/log-lines.ts';
import { isHeading } from '../log/log-outline.ts';
import { stripInvisible } from '../strip-invisible.ts';

/** `ref` is null for a line that cannot be cited, such as `---`. */
export type CitableLine = { readonly ref: string | null; readonly text: string; readonly isHeading: boolean };
/** `line` is the 1-based position among the lines of the log that contain text. */
export type Citation = { readonly ref: string; readonly line: number };

/** Number of words in a ref made of words: the default, and the maximum if other lines start alike. */
const REF_WORDS = { default: 6, max: 14 } as const;
/** Maximum length of a ref made of words, in code points: with the default number of words, and with more. */
const REF_CHARS = { default: 40, max: 80 } as const;
/** Maximum length of the text in brackets, in UTF-16 units. The text may cite several lines: `[1, 3]`. */
export const MAX_CITATION_LENGTH = 200;

/** Replaced by a space in a ref: white space, quotation marks, and characters of citations, Markdown and JSON. */
const RESERVED = /[\s[\]()*_`<>|~#!"“”„«»\\,;]+/gu;
const NUMBER = /^(?:items?\s)?(\d{1,7}(?:\.\d{1,7}){0,40})\.?$/i;

/** The lines of a log that contain text, in order. Lines share a ref only if their longest candidate refs are equal. */
export function citableLines(html: string): CitableLine[] {
  const lines = logLines(html);
  const numbers = lines.map((line, index) => pageNumber(line, lines[index - 1]));
  const counts = countEach(numbers);
  const textLines = lines
    .map((line, index) => ({ line, text: stripInvisible(line.text).trim(), number: numbers[index]! }))
    .filter(({ line }) => line.text.trim() !== '');
  const starts = countEach(textLines.flatMap(({ text }) => candidateRefs(text)));
  return textLines.map(({ line, text, number }) => ({
    ref: number !== '' && counts.get(number) === 1 ? number : firstWords(text, starts),
    text,
    isHeading: isHeading(line),
  }));
}

/** `3.2` for the first line of an item whose enclosing lists are all numbered; otherwise empty. */
function pageNumber({ path }: Line, before: Line | undefined): string {
  const items = path.filter(isItem);
  const innermost = items.at(-1);
  if (!innermost || before?.path.includes(innermost)) return '';
  const numbers = items.map(({ list, marker }) => (list.ordered ? marker.slice(0, -1) : ''));
  return numbers.every((number) => /^\d+$/.test(number)) ? numbers.join('.') : '';
}

/** The prefixes of a line that may serve as its ref, shortest first. */
function candidateRefs(text: string): string[] {
  const words = text.replaceAll(RESERVED, ' ').trim().split(' ');
  const starts: string[] = [];
  for (let count = REF_WORDS.default; count <= REF_WORDS.max; count += 1) {
    const maxLength = count === REF_WORDS.default ? REF_CHARS.default : REF_CHARS.max;
    const start = truncate(words.slice(0, count).join(' '), maxLength);
    // A prefix without letters, or one that reads as a number, is ambiguous.
    if (!/\p{L}/u.test(start) || NUMBER.test(start)) continue;
    if (start !== starts.at(-1)) starts.push(start);
  }
  return starts;
}

/** The shortest unique prefix of a line, else its longest prefix; null for a line without letters. */
function firstWords(text: string, starts: ReadonlyMap<string, number>): string | null {
  const own = candidateRefs(text);
  return own.find((start) => starts.get(start) === 1) ?? own.at(-1) ?? null;
}

/** Truncates at the last word boundary within `maxLength`, or inside a first word that is longer. */
function truncate(text: string, maxLength: number): string {
  const codePoints = Array.from(text);
  if (codePoints.length <= maxLength) return text;
  const cut = codePoints.slice(0, maxLength + 1).join('');
  return cut.includes(' ') ? cut.replace(/ \S*$/u, '') : codePoints.slice(0, maxLength).join('');
}

function countEach(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Resolves one part of the text in brackets: a ref, or an unambiguous prefix of a line's text. */
export type FindCitation = (bracketed: string) => Citation | null;

export function createCitationFinder(lines: readonly CitableLine[]): FindCitation {
  const byRef = new Map<string, Citation>();
  const texts: (readonly [string, Citation])[] = [];
  for (const [index, { ref, text }] of lines.entries()) {
    if (ref === null) continue;
    const citation = { ref, line: index + 1 };
    if (!byRef.has(keyOf(ref))) byRef.set(keyOf(ref), citation);
    texts.push([keyOf(text.slice(0, MAX_CITATION_LENGTH)), citation]);
  }
  return (bracketed) => {
    const key = keyOf(bracketed);
    const found = byRef.get(key);
    if (found || key.length < MIN_PREFIX_LENGTH || isNumber(key)) return found ?? null;
    const matches = texts.filter(([text]) => text.startsWith(key));
    return matches.length === 1 ? matches[0]![1] : null;
  };
}

/** Minimum length, in UTF-16 units, of a prefix that cites a line without being its ref. */
const MIN_PREFIX_LENGTH = 8;

const isNumber = (text: string): boolean => NUMBER.test(text.trim());

function keyOf(text: string): string {
  const plain = stripInvisible(text).replaceAll(RESERVED, ' ').trim().toLowerCase();
  const words = plain.replace(/(?:…|\.{2,})$/u, '');
  return NUMBER.exec(words)?.[1] ?? words;
}

/** The lookbehind anchors a match at the first of the preceding blanks; otherwise many blanks take quadratic time. */
const CITATION = new RegExp(`(?<![ \\t])([ \\t]*)\\[([^\\[\\]\\n]{1,${MAX_CITATION_LENGTH}})\\]`, 'g');
/** An incomplete citation at the end of a streamed text, including the blanks before it. */
export const PARTIAL_CITATION = new RegExp(`(?<!\\s)\\s*(?:\\[[^\\[\\]\\n]{0,${MAX_CITATION_LENGTH}})?$`);

/**
 * Calls `replace` with the parts of each citation, separated by commas or semicolons. Null keeps the citation as it is;
 * an empty string removes it.
 */
function replaceCitations(text: string, replace: (parts: string[]) => string | null): string {
  return text.replaceAll(CITATION, (whole, blanks: string, inside: string) => {
    const replaced = replace(inside.split(/[,;]/).map((part) => part.trim()));
    return replaced === null ? whole : replaced === '' ? '' : `${blanks}${replaced}`;
  });
}

/**
 * Normalizes citations to refs and removes unknown ones. In a log of 12 items, `[2, 99]` becomes `[2]`, `[99]` is
 * removed and `[sic]` is kept.
 */
export function resolveCitations(text: string, find: FindCitation): { text: string; cited: Citation[] } {
  const cited: Citation[] = [];
  const resolved = replaceCitations(text, (parts) => {
    const found = parts.flatMap((part) => find(part) ?? []);
    if (found.length === 0) return parts.every(isNumber) ? '' : null;
    cited.push(...found);
    return `[${[...new Set(found.map(({ ref }) => ref))].join(', ')}]`;
  });
  return { text: resolved, cited };
}

/**
 * Converts `cited` and `cited_refs` of a stored analysis. `refs` is null for an analysis of an earlier prompt, which
 * cites line positions (`labelLineNumbers`).
 */
export const toCitations = (lines: readonly number[], refs: readonly string[] | null): Citation[] =>
  lines.map((line, index) => ({ line, ref: refs?.[index] ?? lineLabel(line) }));

/**
 * Analyses of an earlier prompt cite the position of a line among all lines. Writes their `[4]` as `[line 4]`, because
 * the page may show another number beside that line.
 */
export const labelLineNumbers = (text: string): string =>
  replaceCitations(text, (parts) => (parts.every(isNumber) ? `[${parts.map(lineLabel).join(', ')}]` : null));

const lineLabel = (line: number | string): string => `line ${line}`;

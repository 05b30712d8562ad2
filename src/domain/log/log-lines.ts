/**
 * Splits a log into lines, for line-based formats. The lines equal those of `entryText`, so that an export and its
 * import return identical text; each line also has its position (lists, quotes, heading).
 *
 * HTML that joins two blocks without a line end (`<li>a<ul><li>b`, which other clients may send and `entryText` reads
 * as `ab`) is one line here too. A line belongs to the container of its first non-blank character.
 */
import { withoutDateHeader } from './entry-html.ts';
import { decodeReferences, forEachToken } from './log-tokens.ts';

const MARKS = ['strong', 'em', 'u', 's', 'code'] as const;
export type Mark = (typeof MARKS)[number];
export type Run = { readonly text: string; readonly marks: readonly Mark[] };

/** Compared by identity: lines of the same list or item share the object. */
export type List = { readonly ordered: boolean; next: number };
export type Item = { readonly kind: 'item'; readonly list: List; readonly marker: string };
export type Container = Item | { readonly kind: 'quote' };
export type Block = { readonly kind: 'p' | 'h1' | 'h2' | 'h3' | 'pre' };

export type Line = {
  readonly path: readonly Container[];
  /** Compared by identity: lines of the same paragraph or code block share the object. */
  readonly block: Block;
  readonly runs: readonly Run[];
  readonly text: string;
};

const LINE_BREAK = /[\r\n]/;
const START = /^ol start="(-?\d{1,7})"$/;

export const isItem = (container: Container): container is Item => container.kind === 'item';
const MARK_TAGS: ReadonlySet<string> = new Set(MARKS);
const BLOCK_TAGS: ReadonlySet<string> = new Set(['p', 'h1', 'h2', 'h3', 'pre']);
const isMark = (tag: string): tag is Mark => MARK_TAGS.has(tag);
const isTextBlock = (tag: string): tag is Block['kind'] => BLOCK_TAGS.has(tag);

const isBlank = (text: string): boolean => /^[ \t]*$/.test(text);

export function logLines(html: string): Line[] {
  const lines: Line[] = [];
  const lists: List[] = [];
  const nonEmpty = new Set<Container>();
  let path: readonly Container[] = [];
  let block: Block = { kind: 'p' };
  let marks: readonly Mark[] = [];
  let line: { path: readonly Container[]; block: Block; runs: Run[]; text: string } | null = null;
  let isLineBlank = true;

  let markedPath: typeof path | null = null;
  const markNonEmpty = (): void => {
    if (markedPath === path) return;
    path.forEach((container) => nonEmpty.add(container));
    markedPath = path;
  };
  const endLine = (allowEmpty: boolean): void => {
    if (line) lines.push(line);
    else if (allowEmpty) {
      markNonEmpty();
      lines.push({ path, block, runs: [], text: '' });
    }
    line = null;
  };
  const append = (text: string): void => {
    if (text === '') return;
    markNonEmpty();
    if (line === null) {
      line = { path, block, runs: [], text: '' };
      isLineBlank = true;
    }
    // Leading white space between tags does not decide the container of a line.
    if (isLineBlank) Object.assign(line, { path, block });
    // Checks only the new part: checking the whole line for each part takes quadratic time.
    isLineBlank &&= isBlank(text);
    line.runs.push({ text, marks: block.kind === 'pre' ? [] : marks });
    line.text += text;
  };
  const open = (tag: string): void => {
    if (isMark(tag)) marks = marks.includes(tag) ? marks : [...marks, tag];
    else if (tag === 'br') endLine(true);
    else if (isTextBlock(tag)) block = { kind: tag };
    else {
      block = { kind: 'p' };
      if (tag === 'blockquote') path = [...path, { kind: 'quote' }];
      else if (tag === 'ul') lists.push({ ordered: false, next: 1 });
      else if (tag === 'ol' || START.test(tag)) lists.push({ ordered: true, next: Number(START.exec(tag)?.[1] ?? 1) });
      else if (tag === 'li') {
        const list = lists.at(-1) ?? { ordered: false, next: 1 };
        path = [...path, { kind: 'item', list, marker: list.ordered ? `${list.next}.` : '-' }];
        list.next += 1;
      }
    }
  };
  const close = (tag: string): void => {
    if (isMark(tag)) marks = marks.filter((mark) => mark !== tag);
    else if (isTextBlock(tag)) endLine(true);
    else if (tag === 'li') endLine(!nonEmpty.has(path.at(-1)!));
    else if (tag === 'ul' || tag === 'ol' || tag === 'blockquote') endLine(false);
    if (tag === 'li' || tag === 'blockquote') path = path.slice(0, -1);
    if (tag === 'ul' || tag === 'ol') lists.pop();
    if (!isMark(tag)) block = { kind: 'p' };
  };

  forEachToken(
    withoutDateHeader(html),
    (tag) => (tag.startsWith('/') ? close(tag.slice(1)) : open(tag)),
    (text) => {
      const isCode = block.kind === 'pre';
      const decoded = decodeReferences(text);
      if (!LINE_BREAK.test(decoded)) return append(decoded);
      decoded.split(isCode ? /\r\n|\r|\n/ : /[\r\n]+/).forEach((part, index) => {
        if (index > 0) endLine(isCode);
        append(part);
      });
    },
  );
  endLine(false);
  return trimEmptyLines(lines);
}

/** `logLines` with no-break spaces, which `entryText` reads as plain ones: an export keeps them for an import. */
export const exactLogLines = (html: string): Line[] => logLines(html.replaceAll('&nbsp;', '\u00A0'));

/** Removes empty paragraphs at both ends and empty items at the end. */
function trimEmptyLines(lines: readonly Line[]): Line[] {
  const first = lines.findIndex((line) => line.text !== '' || line.path.some(isItem));
  const last = lines.findLastIndex((line) => line.text !== '');
  return first === -1 ? [] : lines.slice(first, last + 1);
}

/** The number of containers that two paths share, from the outside in. */
export function sharedDepth(a: readonly Container[], b: readonly Container[]): number {
  if (a === b) return a.length;
  let depth = 0;
  while (depth < a.length && depth < b.length && a[depth] === b[depth]) depth += 1;
  return depth;
}

/**
 * A log as lines, for the formats made of lines. The lines are those of `entryText`, letter for letter, so that a file
 * brings back identical text whatever the log is made of; beside each stands where it was (lists, quotes, a heading).
 *
 * Where stored HTML glues two blocks together (`<li>a<ul><li>b`, which other clients may send and which reads `ab`), they
 * are one line here too. A line belongs to where its first letter stands.
 */
import { withoutDateHeader } from '../log/entry-html.ts';

const MARKS = ['strong', 'em', 'u', 's', 'code'] as const;
export type Mark = (typeof MARKS)[number];
export type Run = { readonly text: string; readonly marks: readonly Mark[] };

/** Compared by identity: two lines are in the same list or item when it is the same object. */
export type List = { readonly ordered: boolean; next: number };
export type Item = { readonly kind: 'item'; readonly list: List; readonly marker: string };
export type Container = Item | { readonly kind: 'quote' };
export type Block = { readonly kind: 'p' | 'h1' | 'h2' | 'h3' | 'pre' };

export type Line = {
  readonly path: readonly Container[];
  /** The lines of one paragraph or code block share it. */
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

/** In the order in which `entryText` does it. */
function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&');
}

/** The tags and texts of a log, one after the other. A `<` that begins no tag is text, as `entryText` has it. */
function eachPiece(html: string, onTag: (tag: string) => void, onText: (text: string) => void): void {
  let close = -1;
  for (let at = 0; at < html.length;) {
    const next = html.indexOf('<', at + 1);
    const end = next === -1 ? html.length : next;
    if (html.charCodeAt(at) === 60 /* < */) {
      // Looked for once for all tags before it: a text of many `<` would take quadratic time otherwise.
      if (close < at) close = html.indexOf('>', at);
      if (close === -1) close = html.length;
      if (close < end) {
        onTag(html.slice(at + 1, close));
        at = close + 1;
        continue;
      }
    }
    onText(html.slice(at, end));
    at = end;
  }
}

export function logLines(html: string): Line[] {
  const lines: Line[] = [];
  const lists: List[] = [];
  const begun = new Set<Container>();
  let path: readonly Container[] = [];
  let block: Block = { kind: 'p' };
  let marks: readonly Mark[] = [];
  let line: { path: readonly Container[]; block: Block; runs: Run[]; text: string } | null = null;
  let lineIsBlank = true;

  let begunPath: typeof path | null = null;
  const begin = (): void => {
    if (begunPath === path) return;
    path.forEach((container) => begun.add(container));
    begunPath = path;
  };
  const end = (orEmpty: boolean): void => {
    if (line) lines.push(line);
    else if (orEmpty) {
      begin();
      lines.push({ path, block, runs: [], text: '' });
    }
    line = null;
  };
  const append = (text: string): void => {
    if (text === '') return;
    begin();
    if (line === null) {
      line = { path, block, runs: [], text: '' };
      lineIsBlank = true;
    }
    // White space between the tags of hand-written HTML stands before its line, wherever the tags were.
    if (lineIsBlank) Object.assign(line, { path, block });
    // Of each part alone: looking at the whole line for each would take quadratic time.
    lineIsBlank &&= isBlank(text);
    line.runs.push({ text, marks: block.kind === 'pre' ? [] : marks });
    line.text += text;
  };
  const open = (tag: string): void => {
    if (isMark(tag)) marks = marks.includes(tag) ? marks : [...marks, tag];
    else if (tag === 'br') end(true);
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
    else if (isTextBlock(tag)) end(true);
    else if (tag === 'li') end(!begun.has(path.at(-1)!));
    else if (tag === 'ul' || tag === 'ol' || tag === 'blockquote') end(false);
    if (tag === 'li' || tag === 'blockquote') path = path.slice(0, -1);
    if (tag === 'ul' || tag === 'ol') lists.pop();
    if (!isMark(tag)) block = { kind: 'p' };
  };

  eachPiece(
    withoutDateHeader(html),
    (tag) => (tag.startsWith('/') ? close(tag.slice(1)) : open(tag)),
    (piece) => {
      const code = block.kind === 'pre';
      const text = decoded(piece);
      if (!LINE_BREAK.test(text)) return append(text);
      text.split(code ? /\r\n|\r|\n/ : /[\r\n]+/).forEach((part, index) => {
        if (index > 0) end(code);
        append(part);
      });
    },
  );
  end(false);
  return withoutEmptyEnds(lines);
}

/** The item that waits for its first word, and empty paragraphs around the text, are no part of what was written. */
function withoutEmptyEnds(lines: readonly Line[]): Line[] {
  const first = lines.findIndex((line) => line.text !== '' || line.path.some(isItem));
  const last = lines.findLastIndex((line) => line.text !== '');
  return first === -1 ? [] : lines.slice(first, last + 1);
}

/** How many containers two paths share from the outside in. */
export function sharedDepth(a: readonly Container[], b: readonly Container[]): number {
  let depth = 0;
  while (depth < a.length && depth < b.length && a[depth] === b[depth]) depth += 1;
  return depth;
}

/** Writes a log as Markdown (CommonMark with ~~strike~~). `parseMarkdown` reads it back with identical text. */
import { logLines, sharedDepth } from '../export/log-lines.ts';
import type { Block, Container, Line } from '../export/log-lines.ts';
import { markdownLine } from './write-inline.ts';

const HEADINGS = { h1: '## ', h2: '### ', h3: '#### ', p: '' } as const satisfies Record<
  Exclude<Block['kind'], 'pre'>,
  string
>;
/** Separates two adjacent lists, which Markdown would merge. */
const LIST_BOUNDARY = '<!-- -->';

const widthOf = (container: Container): number => (container.kind === 'quote' ? 2 : container.marker.length + 1);
const continuationPrefix = (path: readonly Container[]): string =>
  path.map((container) => (container.kind === 'quote' ? '> ' : ' '.repeat(widthOf(container)))).join('');
const openingPrefix = (path: readonly Container[]): string =>
  path.map((container) => (container.kind === 'quote' ? '> ' : `${container.marker} `)).join('');

/** Headings are one level lower than in the log: the level of `topHeading: 2`. */
export function writeMarkdown(content: string): string {
  const output: string[] = [];
  let before: Line | null = null;
  const lines = logLines(content);
  for (let from = 0; from < lines.length;) {
    const line = lines[from]!;
    let to = from + 1;
    while (lines[to]?.block === line.block && lines[to]?.path === line.path) to += 1;
    const shared = before === null ? 0 : sharedDepth(before.path, line.path);
    const texts = blockLines(lines.slice(from, to));
    if (texts.length > 0 || shared < line.path.length) {
      if (before !== null) output.push(...separator(before, line, shared));
      const inside = continuationPrefix(line.path);
      const first = continuationPrefix(line.path.slice(0, shared)) + openingPrefix(line.path.slice(shared));
      if (texts.length === 0) output.push(first.trimEnd());
      for (const [index, text] of texts.entries()) {
        output.push(text === '' ? inside.trimEnd() : (index === 0 ? first : inside) + text);
      }
      before = line;
    }
    from = to;
  }
  return output.join('\n');
}

/** A fenced code block, a heading or a paragraph. Empty for an empty block, which Markdown cannot represent. */
function blockLines(lines: readonly Line[]): string[] {
  const { kind } = lines[0]!.block;
  if (kind === 'pre') {
    const texts = lines.map((line) => line.text);
    if (texts.every((text) => text === '')) return [];
    const ticks = Math.max(2, ...(texts.join('\n').match(/`+/g) ?? []).map((run) => run.length));
    const fence = '`'.repeat(ticks + 1);
    return [fence, ...texts, fence];
  }
  const texts = lines.filter((line) => line.text !== '').map((line) => HEADINGS[kind] + markdownLine(line.runs));
  return texts.map((text, index) => (kind === 'p' && index < texts.length - 1 ? `${text}\\` : text));
}

/**
 * The lines between two blocks: a blank line, or `LIST_BOUNDARY` between two lists of one kind. No line before an item
 * that continues a list or may interrupt a paragraph.
 */
function separator(before: Line, line: Line, shared: number): string[] {
  const blank = continuationPrefix(line.path.slice(0, shared)).trimEnd();
  const opened = line.path[shared];
  if (opened?.kind !== 'item') return [blank];
  const closed = before.path[shared];
  if (closed?.kind === 'item') {
    if (closed.list === opened.list) return [];
    return closed.list.ordered === opened.list.ordered
      ? [blank, continuationPrefix(line.path.slice(0, shared)) + LIST_BOUNDARY, blank]
      : [blank];
  }
  // In CommonMark, only a bullet item or an item numbered 1 may interrupt a paragraph, and only if it contains text.
  const canInterrupt = line.path[shared - 1]?.kind === 'item' && /^(?:1\.|-)$/.test(opened.marker) && line.text !== '';
  return canInterrupt && closed === undefined ? [] : [blank];
}

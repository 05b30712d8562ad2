/** Markdown (CommonMark with ~~strike~~): a first-level heading for each day, the log's own headings one level lower. */
import { dayLabel } from '../day/day.ts';
import { refused } from './exported-entry.ts';
import type { FormatWriter, ReadDay } from './exported-entry.ts';
import { dayOfHeading, isDayHeading } from './day-heading.ts';
import { logLines, sharedDepth } from './log-lines.ts';
import type { Block, Container, Line } from './log-lines.ts';
import { markdownLine } from './markdown-inline.ts';
import { MarkdownLog } from './markdown-log.ts';

const HEADINGS = { h1: '## ', h2: '### ', h3: '#### ', p: '' } as const satisfies Record<
  Exclude<Block['kind'], 'pre'>,
  string
>;
/** Between two lists that would otherwise be read as one. */
const LIST_BOUNDARY = '<!-- -->';

export const markdownWriter = (): FormatWriter => ({
  begin: () => '',
  entry: ({ date, content }) => `# ${dayLabel(date)}\n\n${markdownOf(content).join('\n')}\n\n`,
  end: () => '',
});

const widthOf = (container: Container): number => (container.kind === 'quote' ? 2 : container.marker.length + 1);
const continued = (path: readonly Container[]): string =>
  path.map((container) => (container.kind === 'quote' ? '> ' : ' '.repeat(widthOf(container)))).join('');
const opened = (path: readonly Container[]): string =>
  path.map((container) => (container.kind === 'quote' ? '> ' : `${container.marker} `)).join('');

function markdownOf(content: string): string[] {
  const written: string[] = [];
  let before: Line | null = null;
  const lines = logLines(content);
  for (let from = 0; from < lines.length;) {
    const line = lines[from]!;
    let to = from + 1;
    while (lines[to]?.block === line.block && lines[to]?.path === line.path) to += 1;
    const shared = before === null ? 0 : sharedDepth(before.path, line.path);
    const texts = blockLines(lines.slice(from, to));
    if (texts.length > 0 || shared < line.path.length) {
      if (before !== null) written.push(...between(before, line, shared));
      const inside = continued(line.path);
      const first = continued(line.path.slice(0, shared)) + opened(line.path.slice(shared));
      if (texts.length === 0) written.push(first.trimEnd());
      for (const [index, text] of texts.entries()) {
        written.push(text === '' ? inside.trimEnd() : (index === 0 ? first : inside) + text);
      }
      before = line;
    }
    from = to;
  }
  return written;
}

/** A code block with its fence, a heading or a paragraph; nothing where there are no words, which Markdown cannot say. */
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

/** An empty line between two blocks, unless the second begins an item that its list shows at once. */
function between(before: Line, line: Line, shared: number): string[] {
  const blank = continued(line.path.slice(0, shared)).trimEnd();
  const begins = line.path[shared];
  if (begins?.kind !== 'item') return [blank];
  const left = before.path[shared];
  if (left?.kind === 'item') {
    if (left.list === begins.list) return [];
    return left.list.ordered === begins.list.ordered
      ? [blank, continued(line.path.slice(0, shared)) + LIST_BOUNDARY, blank]
      : [blank];
  }
  // Only these may follow a paragraph without an empty line, and only with words in them.
  const atOnce = line.path[shared - 1]?.kind === 'item' && /^(?:1\.|-)$/.test(begins.marker) && line.text !== '';
  return atOnce && left === undefined ? [] : [blank];
}

/** Answers nothing at all for a text that is no export. */
export function* readMarkdown(text: string): Generator<ReadDay> {
  let label: string | null = null;
  let log = new MarkdownLog();
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const heading = line.startsWith('# ') && !log.inCode ? line.slice(2) : null;
    if (heading !== null && isDayHeading(heading)) {
      if (label !== null) yield readDay(label, log);
      label = heading;
      log = new MarkdownLog();
    } else if (label !== null) log.add(line);
  }
  if (label !== null) yield readDay(label, log);
}

function readDay(label: string, log: MarkdownLog): ReadDay {
  const date = dayOfHeading(label);
  if (date === null) return refused(label, 'invalidDate');
  return { kind: 'day', day: { date, content: log.end(), coach: null } };
}

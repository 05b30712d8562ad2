/**
 * Writes a log as Markdown (CommonMark with ~~strike~~), one level of headings lower. `parseMarkdown` with
 * `softBreaks: 'join'` and `topHeading: 2` reads it back with identical text.
 */
import {
  exactLogLines,
  isItem,
  sharedDepth,
  type Block,
  type Container,
  type Item,
  type Line,
  type List,
  type Mark,
  type Run,
} from '../log/log-lines.ts';
import { dayLabel } from '../day/day.ts';
import type { FormatWriter } from '../exported-entry.ts';

const HEADINGS = { h1: '## ', h2: '### ', h3: '#### ', p: '' } as const satisfies Record<
  Exclude<Block['kind'], 'pre'>,
  string
>;
/** Separates two lists, which Markdown would merge, and marks an item that has no text of its own. */
const BOUNDARY = '<!-- -->';
/** A number below zero, or longer than the `start` of a list may be. */
const UNCOUNTABLE = /^-\d|^\d{8}/;

export const writeMarkdown = (content: string): string => new MarkdownWriter().write(exactLogLines(content));

class MarkdownWriter {
  readonly #output: string[] = [];
  /**
   * The first number of each list that Markdown cannot count: its items are counted from 1, below a comment with the
   * number. Null for the other lists.
   */
  readonly #renumbered = new Map<List, number | null>();
  /** For each container, the beginning of the lines in it. */
  readonly #prefixes = new Map<Container, string>();

  write(lines: readonly Line[]): string {
    let before: Line | null = null;
    for (let from = 0; from < lines.length;) {
      const line = lines[from]!;
      let to = from + 1;
      while (lines[to]?.block === line.block && lines[to]?.path === line.path) to += 1;
      const shared = before === null ? 0 : sharedDepth(before.path, line.path);
      const texts = blockLines(lines.slice(from, to));
      // An item may not begin with two blank lines, so an empty block is written only if the item has no other.
      const isFollowed = sharedDepth(line.path, lines[to]?.path ?? []) === line.path.length;
      if (texts.length > 0 || (shared < line.path.length && !isFollowed)) {
        if (before !== null) this.#output.push(...this.#separator(before, line, shared));
        this.#writeBlock(line.path, shared, texts);
        before = line;
      }
      from = to;
    }
    return this.#output.join('\n');
  }

  #writeBlock(path: readonly Container[], shared: number, texts: readonly string[]): void {
    let open = shared;
    for (let depth = shared; depth < path.length; depth += 1) {
      const item = path[depth]!;
      if (!isItem(item)) continue;
      const comment = this.#commentAbove(item);
      // Not every program reads two markers on one line.
      if (comment === '' && (depth === open || !isItem(path[depth - 1]!))) continue;
      this.#output.push(this.#prefix(path.slice(0, depth), open) + (comment || BOUNDARY));
      open = depth;
    }
    const inside = this.#openPrefix(path, path.length);
    const first = this.#prefix(path, open);
    if (texts.length === 0) this.#output.push(first + BOUNDARY);
    for (const [index, text] of texts.entries())
      this.#output.push(text === '' ? inside.trimEnd() : (index === 0 ? first : inside) + text);
  }

  /** The comment above a list that begins with this item and that Markdown cannot count; empty for others. */
  #commentAbove({ list, marker }: Item): string {
    if (this.#renumbered.has(list)) return '';
    const isCountable = !UNCOUNTABLE.test(marker);
    this.#renumbered.set(list, isCountable ? null : Number.parseInt(marker, 10));
    return isCountable ? '' : `<!-- ${marker} -->`;
  }

  /** The beginning of a line in `path`, whose first `open` containers are open already. */
  #prefix(path: readonly Container[], open: number): string {
    let prefix = this.#openPrefix(path, open);
    for (const container of path.slice(open)) prefix += isItem(container) ? `${this.#markerOf(container)} ` : '> ';
    return prefix;
  }

  /** The beginning of a line in open containers. Cached. Threat: many short blocks, each within a hundred containers. */
  #openPrefix(path: readonly Container[], depth: number): string {
    const container = path[depth - 1];
    if (container === undefined) return '';
    let prefix = this.#prefixes.get(container);
    if (prefix === undefined) {
      const own = isItem(container) ? ' '.repeat(this.#markerOf(container).length + 1) : '> ';
      prefix = this.#openPrefix(path, depth - 1) + own;
      this.#prefixes.set(container, prefix);
    }
    return prefix;
  }

  #markerOf({ list, marker }: Item): string {
    const start = this.#renumbered.get(list) ?? null;
    return start === null ? marker : `${Number.parseInt(marker, 10) - start + 1}.`;
  }

  /**
   * The lines between two blocks: a blank line, or `BOUNDARY` between two lists of one kind. No line before an
   * item that continues a list or may interrupt a paragraph.
   */
  #separator(before: Line, line: Line, shared: number): string[] {
    const outside = this.#openPrefix(line.path, shared);
    const blank = outside.trimEnd();
    const opened = line.path[shared];
    const closed = before.path[shared];
    if (opened?.kind !== 'item') {
      // Prettier removes the blank line below a list in a quoted item.
      const isQuotedItem = line.path.some(isItem) && !line.path.every(isItem);
      return isQuotedItem && closed?.kind === 'item' ? [blank, outside + BOUNDARY, blank] : [blank];
    }
    if (closed?.kind === 'item') {
      if (closed.list === opened.list) return [];
      return closed.list.ordered === opened.list.ordered ? [blank, outside + BOUNDARY, blank] : [blank];
    }
    // In CommonMark, only a bullet item or an item numbered 1 may interrupt a paragraph, and only if it contains text.
    const canInterrupt =
      line.path[shared - 1]?.kind === 'item' && /^(?:1\.|-)$/.test(opened.marker) && line.text !== '';
    return canInterrupt && closed === undefined ? [] : [blank];
  }
}

const ENDS_IN_ADDRESS = /:\/\/|@|www\./i;

/** A fenced code block, a heading or a paragraph. Empty for an empty block, which Markdown cannot represent. */
function blockLines(lines: readonly Line[]): string[] {
  const { kind } = lines[0]!.block;
  if (kind === 'pre') {
    const texts = lines.map((line) => line.text);
    if (texts.every((text) => text === '')) return [];
    const runs = texts.join('\n').match(/`{3,}/g) ?? [];
    const fence = '`'.repeat(runs.reduce((length, { length: ticks }) => Math.max(length, ticks + 1), 3));
    return [fence, ...texts, fence];
  }
  const texts = lines.filter((line) => line.text !== '').map((line) => markdownLine(line.runs));
  // `#` at the end of a heading closes it.
  if (kind !== 'p') return texts.map((text) => HEADINGS[kind] + text.replace(/(?<=^| )#+$/, '\\$&'));
  const broken = texts.map((text, index) => {
    if (index === texts.length - 1) return text;
    // Not every program ends an address at a backslash.
    return text + (ENDS_IN_ADDRESS.test(text.slice(text.lastIndexOf(' ') + 1)) ? '<br>' : '\\\n');
  });
  return texts.length === 0 ? [] : broken.join('').split('\n');
}

const DELIMITERS = { strong: '**', em: '*', s: '~~', u: null, code: null } as const satisfies Record<
  Mark,
  string | null
>;
const WORD_AT_BOTH_ENDS = /^[\p{L}\p{N}](?:.*[\p{L}\p{N}])?$/su;
const CODE = /^[^`\s](?:(?:[^`\s]| (?! ))*[^`\s])?$/;
/** An underscore between letters or digits needs no escape: `snake_case`. */
const LETTER_AT_END = /[\p{L}\p{N}]$/u;
const LETTER_AT_START = /^[\p{L}\p{N}]/u;
const EDGE_BLANKS = /^\s+|(?<!\s)\s+$/g;

/**
 * A word of dashes or `=` at the end, or before a long word or code. If another program wraps it into a line of its
 * own, it becomes the underline of a setext heading. Also matches escaped characters and code, to skip them.
 */
const UNDERLINE = /\\.|`[^`]*`|(?<= )(?:-{2,}|=+)(?=$| \S{20}| \S*`)/g;

/**
 * Every character that Markdown could interpret is escaped and delimiters are used only around words, so that parsing
 * is unambiguous, also for less exact parsers than CommonMark's. Other marks (underline, bold around a space) become
 * HTML tags. Preserves all blanks, and escapes a start that would read as a heading, a quote, a list or a row of a
 * table.
 */
const markdownLine = (runs: readonly Run[]): string =>
  inline(runs, 0)
    .replace(UNDERLINE, (found) => (/^[\\`]/.test(found) ? found : `\\${found}`))
    .replace(EDGE_BLANKS, encodeBlanks)
    .replace(/^([#>+=:|-])/, '\\$1')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2');

/** A line of plain text as Markdown, for text that is not a log. */
export const markdownOfText = (text: string): string => markdownLine([{ text, marks: [] }]);

function inline(runs: readonly Run[], depth: number): string {
  const parts: string[] = [];
  for (let from = 0; from < runs.length;) {
    const mark = runs[from]!.marks[depth];
    let to = from + 1;
    if (mark === undefined) {
      const text = escapeMarkdown(runs[from]!.text);
      // Behind a run that ends in a blank, a blank at the start is encoded: Markdown would join both.
      parts.push(parts.at(-1)?.endsWith(' ') ? text.replace(/^ /, encodeBlanks) : text);
    } else {
      while (runs[to]?.marks[depth] === mark) to += 1;
      parts.push(markedText(mark, runs.slice(from, to), depth, parts.at(-1)?.at(-1)));
    }
    from = to;
  }
  return parts.join('');
}

/** `before`: the character in front of the text. */
function markedText(mark: Mark, runs: readonly Run[], depth: number, before = ' '): string {
  const words = runs.map((run) => run.text).join('');
  if (mark === 'code' && CODE.test(words) && runs.every((run) => run.marks.length === depth + 1)) return `\`${words}\``;
  const delimiter = DELIMITERS[mark];
  const inner = inline(runs, depth + 1);
  // Adjacent delimiters would be parsed as one run.
  if (delimiter !== null && WORD_AT_BOTH_ENDS.test(inner) && !'*_~'.includes(before))
    return delimiter + inner + delimiter;
  return `<${mark}>${inner.replace(EDGE_BLANKS, encodeBlanks)}</${mark}>`;
}

const encodeBlanks = (blanks: string): string => Array.from(blanks, (blank) => `&#${blank.codePointAt(0)};`).join('');

/** Other programs make one space of several blanks. */
const BLANKS = /(?<= ) +|\t+/g;
const SPECIAL = /[\\`*[~<&_$\t]|  /;
function escapeMarkdown(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .replace(/[\\`*[~]|\$(?=\$)/g, '\\$&')
    .replace(/<(?=\S)/g, '\\<')
    .replace(/&(?=#|[a-z])/gi, '\\&')
    .replace(BLANKS, encodeBlanks)
    .replace(/_/g, (sign, at: number, whole: string) =>
      LETTER_AT_END.test(whole.slice(Math.max(0, at - 2), at)) && LETTER_AT_START.test(whole.slice(at + 1, at + 3))
        ? sign
        : '\\_',
    );
}

/**
 * The Markdown export (CommonMark with ~~strike~~): a first-level heading per day, the log's headings one level lower.
 */
export const markdownWriter = (): FormatWriter => ({
  begin: () => '',
  entry: ({ date, content }) => `# ${dayLabel(date)}\n\n${writeMarkdown(content)}\n\n`,
  end: () => '',
});

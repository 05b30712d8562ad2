/**
 * Converts Markdown (CommonMark with GFM's tables and strikethrough) to the HTML of a log. markdown-it parses; this
 * file turns its tokens into the few elements of a log. Check boxes stay text: `[ ]` and `[x]`.
 *
 * Import this module dynamically: it loads markdown-it. Parsing takes linear time.
 */
import createMarkdownIt, { type MarkdownIt, type Token } from 'markdown-it';
import { escapeHtml } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import { linkAsText } from '../log/links.ts';
import { createIndents, FENCE, indentOf, isIndentedCode, isOutline, type ShowIndents } from '../log/indented-text.ts';
import { endOfProperties, joinCells } from '../log/pasted-markdown.ts';
import { InlineHtml } from './inline-html.ts';

export type MarkdownOptions = {
  /**
   * `keep`: the end of a line in a paragraph is a break, as in notes and most journals. Each line is a paragraph of its
   * own, or ends in a `<br>` in a list item. `join`: it is a space, as in wrapped text and our own export.
   */
  softBreaks: 'keep' | 'join';
  /** The level of a heading that becomes `<h1>`: 2 in our own export, where the first level is the day. */
  topHeading?: number;
};

type BlockRule = ReturnType<MarkdownIt['block']['ruler']['getRules']>[number];

/** Deeper quotes and lists are text. A list takes two levels, so a log stays below `ENTRY_MAX_DEPTH`. */
const MAX_LEVEL = 60;
/** The `start` of a log's list has at most seven digits, so a longer number is text. */
const LONG_NUMBER = /\d{8}/y;
/** Our own export names a number below zero, which Markdown cannot count from, above its list. */
const LIST_START = /^<!-- (-\d{1,7})\. -->\s*$/;

/** The rest of an address without marks and punctuation at its end, and without character references. */
const AFTER_SCHEME = /:\/\/(?:(?!&#?\w{1,10};)[^\s<>()[\]"'`\\|])*(?!&#?\w{1,10};)[^\s<>()[\]"'`\\|*_~.,;:!?&]/y;

const parser = createParser();
/** Finds tags and character references in a block of HTML, in which Markdown has no meaning. */
const htmlParser = createMarkdownIt('zero', { html: true });
htmlParser.inline.ruler.enable(['html_inline', 'entity', 'newline']);

export function parseMarkdown(text: string, { softBreaks, topHeading = 1 }: MarkdownOptions): string {
  const source = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\0', '')
    .replace(/\r\n?/g, '\n');
  const repaired = softBreaks === 'keep' ? repairLists(source) : source;
  const keepsBreaks = softBreaks === 'keep';
  return new LogWriter(repaired, keepsBreaks, topHeading).write(parser.parse(repaired, { keepsBreaks }));
}

function createParser(): MarkdownIt {
  const markdown = createMarkdownIt({ html: true });
  // An address stays as it is written, without percent-encoding and Punycode. `linkAsText` decides which ones are kept.
  markdown.normalizeLink = (url) => url;
  markdown.normalizeLinkText = (url) => url;
  markdown.validateLink = () => true;
  markdown.core.ruler.disable('strip_references');
  const { ruler } = markdown.block;
  const blockquote = blockRule('blockquote');
  const list = blockRule('list');
  const reference = blockRule('reference');
  const alt = ['paragraph', 'reference', 'blockquote'];
  ruler.at('blockquote', (state, ...rest) => state.level < MAX_LEVEL && blockquote(state, ...rest), {
    alt: [...alt, 'list'],
  });
  ruler.at(
    'list',
    (state, line, end, isSilent) => {
      LONG_NUMBER.lastIndex = state.bMarks[line]! + state.tShift[line]!;
      if (state.level >= MAX_LEVEL || (!isSilent && LONG_NUMBER.test(state.src))) return false;
      return list(state, line, end, isSilent);
    },
    { alt },
  );
  ruler.at('reference', (state, line, end, isSilent) => {
    if (!reference(state, line, end, isSilent)) return false;
    if (isSilent) return true;
    const definition = state.tokens.at(-1)!;
    const label = String(definition.meta!['label']);
    const labels = (state.env['labels'] ??= new Set<string>()) as Set<string>;
    if (labels.has(label)) definition.meta = null; // Only the first definition of a label counts.
    else if (linkAsText('label', state.env.references![label]!.href).suffix !== null) labels.add(label);
    else {
      // `[TODO]: call` names no address.
      definition.meta = null;
      delete state.env.references![label];
    }
    return true;
  });
  ruler.before('table', 'properties', (state, line, end, isSilent) => {
    const close = isSilent || line > 0 || state.level > 0 ? null : endOfProperties(state.src);
    if (close === null || close >= end) return false;
    state.push('properties', '', 0).map = [line + 1, close];
    state.line = close + 1;
    return true;
  });
  // As in GFM, `*` and `_` within an address are text. Our own export, read without `keepsBreaks`, escapes them. The
  // parser has already read the scheme when it reaches the colon.
  markdown.inline.ruler.push('address', (state, isSilent) => {
    const { pos, src } = state;
    if (src[pos] !== ':' || !state.env['keepsBreaks']) return false;
    if (!/(?:^|[^\w/])https?$/i.test(src.slice(Math.max(0, pos - 6), pos))) return false;
    AFTER_SCHEME.lastIndex = pos;
    const rest = AFTER_SCHEME.exec(state.src)?.[0];
    if (rest === undefined) return false;
    if (!isSilent) state.pending += rest;
    state.pos += rest.length;
    return true;
  });
  markdown.core.ruler.before('inline', 'indentation', ({ env, tokens }) => {
    if (!env['keepsBreaks']) return;
    const showIndents = createIndents();
    for (const [index, token] of tokens.entries())
      if (tokens[index - 1]?.type === 'paragraph_open') token.content = indentLines(token.content, showIndents);
  });
  return markdown;
}

/**
 * Markdown drops the blanks at the start of a line. This keeps them where they have a meaning, such as in YAML without
 * a fence.
 */
function indentLines(paragraph: string, showIndents: ShowIndents): string {
  const lines = paragraph.split('\n');
  if (!isIndentedCode(lines) && !isOutline(lines)) return paragraph;
  const indents = showIndents(lines.map(indentOf));
  return lines.map((line, index) => indents[index]! + line.trimStart()).join('\n');
}

function blockRule(name: string): BlockRule {
  const { ruler } = createMarkdownIt().block;
  ruler.enableOnly(name);
  return ruler.getRules('')[0]!;
}

/** An info string: a language and attributes. Chats write the first line of the code in its place. */
const LANGUAGE = /^(?:[\w+#./:-]*(?:[\s,]+(?:[\w-]+=|\{).*)?|\{.*)$/;

class LogWriter {
  readonly #lines: readonly string[];
  readonly #keepsBreaks: boolean;
  readonly #topHeading: number;
  readonly #html: string[] = [];
  /** The open quotes and items, the innermost last. */
  readonly #containers: string[] = [];
  #isHeading = false;
  /** The cells of an open table row. */
  #row: { cells: string[]; line: number } | null = null;
  #columns = 0;
  #listStart: string | null = null;

  constructor(source: string, keepsBreaks: boolean, topHeading: number) {
    this.#lines = source.split('\n');
    this.#keepsBreaks = keepsBreaks;
    this.#topHeading = topHeading;
  }

  write(tokens: readonly Token[]): string {
    const usedLabels = labelsIn(tokens);
    for (const token of tokens) {
      if (token.type === 'reference_definition') {
        if (!usedLabels.has(token.meta?.['label'])) this.#writeSource(token);
      } else this.#writeBlock(token);
    }
    return this.#html.join('');
  }

  #writeBlock(token: Token): void {
    switch (token.type) {
      case 'inline':
        this.#writeInline(token);
        break;
      case 'heading_open':
      case 'heading_close': {
        const level = Math.min(3, Math.max(1, Number(token.tag.slice(1)) + 1 - this.#topHeading));
        this.#isHeading = token.nesting === 1;
        this.#html.push(`<${this.#isHeading ? '' : '/'}h${level}>`);
        break;
      }
      case 'ordered_list_open': {
        const start = this.#listStart ?? token.attrGet('start');
        this.#listStart = null;
        this.#html.push(start === null ? '<ol>' : `<ol start="${Number(start)}">`);
        break;
      }
      case 'list_item_open':
      case 'blockquote_open':
        this.#containers.push(token.tag);
        this.#html.push(`<${token.tag}>`);
        break;
      case 'list_item_close':
      case 'blockquote_close':
        this.#containers.pop();
        this.#html.push(`</${token.tag}>`);
        break;
      case 'bullet_list_open':
        this.#html.push('<ul>');
        break;
      case 'bullet_list_close':
      case 'ordered_list_close':
        this.#html.push(`</${token.tag}>`);
        break;
      case 'fence':
      case 'code_block': {
        const beside = LANGUAGE.test(token.info.trim()) ? '' : `${token.info.trim()}\n`;
        this.#html.push(`<pre><code>${escapeHtml((beside + token.content).replace(/\n$/, ''))}</code></pre>`);
        break;
      }
      case 'html_block':
        this.#listStart = LIST_START.exec(token.content)?.[1] ?? null;
        this.#writeLines(htmlParser.parseInline(token.content, {})[0]!.children!, (line) => line.trim());
        break;
      case 'properties':
        this.#writeSource(token);
        break;
      case 'thead_open':
        this.#columns = 0;
        break;
      case 'tr_open':
        this.#row = { cells: [], line: token.map![0] };
        break;
      case 'tr_close':
        this.#writeRow(this.#row!);
        this.#row = null;
        break;
      default: // Rules, and the ends of paragraphs.
    }
  }

  #writeInline({ children, content }: Token): void {
    if (this.#row) this.#row.cells.push(inlineHtml(children!, 'space').join(' '));
    else if (this.#isHeading) this.#html.push(inlineHtml(children!, this.#keepsBreaks ? 'break' : 'space').join(' '));
    else if (content !== '') this.#writeLines(children!);
  }

  /** A paragraph, or one for each line. */
  #writeLines(children: readonly Token[], edit = (line: string): string => line): void {
    const isItem = this.#containers.at(-1) === 'li';
    const lines = inlineHtml(children, this.#keepsBreaks ? (isItem ? 'break' : 'line') : 'space');
    for (const line of lines.map(edit)) if (line !== '') this.#html.push(`<p>${line}</p>`);
  }

  /** GFM drops the cells beyond the header's. A row of a log keeps them. */
  #writeRow({ cells, line }: { cells: string[]; line: number }): void {
    this.#columns ||= cells.length;
    const split = this.#lines[line]!.split(/(?<!\\)\|/);
    if (split.at(-1)!.trim() === '') split.pop();
    if (/^(?:[\s>]|(?:[-+*]|\d+[.)])\s)*$/.test(split[0] ?? '')) split.shift();
    for (const cell of split.slice(this.#columns))
      cells.push(inlineHtml(parser.parseInline(cell.trim(), {})[0]!.children!, 'space').join(' '));
    const html = joinCells(cells);
    if (html !== '') this.#html.push(`<p>${html}</p>`);
  }

  /** Writes what Markdown would hide as text: properties, and a definition that no link uses. */
  #writeSource({ map }: Token): void {
    const lines = this.#lines.slice(...map!).map((line) => escapeHtml(line.replace(/^[\s>]+/, '').trimEnd()));
    for (const line of lines) if (line !== '') this.#html.push(`<p>${line}</p>`);
  }
}

/** The labels of all definitions that links and images use. */
function labelsIn(tokens: readonly Token[], labels = new Set<unknown>()): ReadonlySet<unknown> {
  for (const { type, meta, children } of tokens) {
    if (type !== 'reference_definition' && meta) labels.add(meta['label']);
    if (children) labelsIn(children, labels);
  }
  return labels;
}

/** Chinese and Japanese have no spaces, so a wrapped line continues without one. */
const WIDE = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303F\\uFF01-\\uFF60]';
const WIDE_AT_END = new RegExp(`${WIDE}$`, 'u');
const WIDE_AT_START = new RegExp(`^${WIDE}`, 'u');
const isWide = (before: Token | undefined, after: Token | undefined): boolean =>
  WIDE_AT_END.test(before?.content ?? '') && WIDE_AT_START.test(after?.content ?? '');

/** The HTML of the lines of a paragraph. A soft break ends a `line`, is a `break` (`<br>`) or a `space`. */
function inlineHtml(tokens: readonly Token[], softBreak: 'line' | 'break' | 'space'): string[] {
  const html = new InlineHtml();
  const links: { suffix: string | null }[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = textToken(tokens[index]!);
    const { type, content, nesting } = token;
    if (type === 'softbreak') {
      // The end of a line that ends with `<br>` is the same break.
      const before = tokens[index - 1];
      if (before?.type === 'html_inline' && /^<br\b/i.test(before.content)) continue;
      if (softBreak === 'line') html.endLine();
      else if (softBreak === 'break') html.addBreak();
      else if (!isWide(before, tokens[index + 1])) html.addText(' ');
    } else if (type === 'hardbreak') html.addBreak();
    else if (type === 'code_inline') {
      html.setMark('code', true);
      html.addText(content);
      html.setMark('code', false);
    } else if (type === 'html_inline') html.addTag(content);
    else if (type === 'link_open') {
      let end = index + 1;
      // Links are not nested.
      while (tokens[end]!.type !== 'link_close') end += 1;
      const { suffix, replacement } = linkAsText(
        labelText(tokens.slice(index + 1, end)),
        String(token.attrGet('href')),
      );
      if (replacement === null) links.push({ suffix });
      else {
        html.addText(replacement);
        index = end;
      }
    } else if (type === 'link_close') html.addText(links.pop()?.suffix ?? '');
    else if (token.tag === 'strong' || token.tag === 'em' || token.tag === 's') html.setMark(token.tag, nesting === 1);
    else html.addText(content);
  }
  return html.end();
}

const labelText = (tokens: readonly Token[]): string =>
  tokens.map((token) => (token.nesting === 0 ? textToken(token).content : '')).join('');

/**
 * Turns the token of an image into text: its description and address. Changes the token itself, because the label of a
 * link is read twice.
 */
function textToken(token: Token): Token {
  if (token.type !== 'image') return token;
  const label = entryText(inlineHtml(token.children!, 'space').join(' '));
  const { suffix, replacement } = linkAsText(label, String(token.attrGet('src')));
  token.type = 'text';
  token.content = replacement ?? label + (suffix ?? '');
  return token;
}

/**
 * Repairs lists as people type and copy them: `•` for `-`, and two spaces instead of three below `1. `, where
 * CommonMark would begin another list. A line below an item that is no further right than its marker begins a
 * paragraph, or a table, after the list. Other text stays as it is. `text` has LF line ends.
 */
function repairLists(text: string): string {
  const items: Item[] = [];
  let fence: { mark: string; added: number } | null = null;
  let isAfterBlank = true;
  const repaired = text.split('\n').map((line) => {
    if (fence) {
      const { mark, added } = fence;
      if (closesFence(line, mark)) fence = null;
      return indentBy(added, line);
    }
    if (line.trim() === '') {
      isAfterBlank = true;
      return line;
    }
    const [, blanks, bullet, gap] = LINE.exec(line)!;
    const indent = widthOf(blanks!);
    // A definition would hide its line. Below an item it is text, as in CommonMark.
    const isText = bullet === undefined && !DEFINITION.test(line);
    const isBelowList = !isAfterBlank && isText && items.length > 0 && indent <= items.at(-1)!.indent;
    isAfterBlank ||= isBelowList;
    if (bullet !== undefined) while (items.length > 0 && items.at(-1)!.indent >= indent) items.pop();
    else if (isAfterBlank || BLOCK.test(line)) while (items.length > 0 && items.at(-1)!.content > indent) items.pop();
    isAfterBlank = false;
    const parent = items.findLast((item) => item.indent < indent);
    let added = parent?.added ?? 0;
    if (bullet === undefined) {
      const mark = FENCE.exec(line)?.[1];
      if (mark !== undefined) fence = { mark, added };
      return (isBelowList ? '\n' : '') + indentBy(added, line);
    }
    if (parent && indent >= parent.indent + 2 && indent < parent.content) added += parent.content - indent;
    items.push({ indent, content: indent + bullet.length + Math.min(widthOf(gap!), 4), added });
    const marker = GLYPH.test(bullet) ? '-' : bullet;
    return indentBy(added, blanks + marker + line.slice(blanks!.length + bullet.length));
  });
  return repaired.join('\n');
}

/** Columns of the source: of the marker and of the text behind it. `added`: how far the item moves to the right. */
type Item = { indent: number; content: number; added: number };

const LINE = /^([ \t]*)(?:([-+*•◦▪‣●○■]|\d{1,9}[.)])([ \t]+)(?=\S))?/;
const DEFINITION = /^ {0,3}\[[^\]]*\]:/;
const GLYPH = /[•◦▪‣●○■]/;
/** A block that ends a paragraph: it belongs to the items that its indent reaches. */
const BLOCK = /^[ \t]*(?:`{3}|~{3}|#{1,6}[ \t]|>)/;
const TAB_WIDTH = 4;

const closesFence = (line: string, mark: string): boolean =>
  line.trim().startsWith(mark) && line.trim() === mark[0]!.repeat(line.trim().length);

function widthOf(blanks: string): number {
  let width = 0;
  for (const blank of blanks) width = blank === '\t' ? width + TAB_WIDTH - (width % TAB_WIDTH) : width + 1;
  return width;
}

/** Moves a line to the right. Replaces its leading tabs by spaces, because their width depends on the column. */
function indentBy(added: number, line: string): string {
  if (added === 0) return line;
  return line.replace(/^[ \t]*/, (blanks) => ' '.repeat(widthOf(blanks) + added));
}

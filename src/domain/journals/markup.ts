/**
 * Parses HTML and XML of other programs, and writes HTML from rich text that is stored as lines with attributes (Day
 * One's `richText`, the deltas of Quill) or as a tree (Lexical). Check boxes become text: `[ ]` and `[x]`. Runs in
 * linear time, and without a DOM, which a Web Worker lacks.
 */
import { escapeHtml } from '../log/entry-html.ts';
import { fieldsOf, listOf, stringOf, type Fields } from './json-fields.ts';

export type Marks = {
  isBold?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
  isStruck?: boolean;
  isCode?: boolean;
  /** A web or mail address. Other links open only in the program, so their text alone stays. */
  link?: string;
};

export type LineStyle = {
  list?: 'bullet' | 'number' | undefined;
  isChecked?: boolean | undefined;
  /** Levels of nesting, from 0. */
  level?: number;
  start?: number | undefined;
  heading?: number;
  isQuote?: boolean;
  isCode?: boolean;
};

export type RichLine = { html: string; style: LineStyle };

export function markedText(text: string, marks: Marks): string {
  let html = escapeHtml(text);
  if (html === '') return '';
  if (marks.isCode) html = `<code>${html}</code>`;
  if (marks.isStruck) html = `<s>${html}</s>`;
  if (marks.isUnderlined) html = `<u>${html}</u>`;
  if (marks.isItalic) html = `<em>${html}</em>`;
  if (marks.isBold) html = `<strong>${html}</strong>`;
  const link = marks.link ?? '';
  return /^(?:https?:|mailto:)/i.test(link)
    ? `<a href="${escapeHtml(link).replaceAll('"', '&quot;')}">${html}</a>`
    : html;
}

export const checkBox = (isChecked: boolean): string => (isChecked ? '[x] ' : '[ ] ');

/**
 * Writes lines as paragraphs, quotes, headings, code and nested lists. An item is at most one level deeper than the one
 * before it.
 */
export function linesToHtml(lines: readonly RichLine[]): string {
  let html = '';
  const lists: ('ul' | 'ol')[] = [];
  let block = '' as '' | 'pre' | 'blockquote';
  const closeLists = (depth: number): void => {
    while (lists.length > depth) html += `</li></${lists.pop()!}>`;
  };
  const switchBlock = (next: typeof block): void => {
    if (block === next) return;
    closeLists(0);
    if (block !== '') html += `</${block}>`;
    if (next !== '') html += `<${next}>`;
    block = next;
  };
  for (const { html: inner, style } of lines) {
    if (style.isCode) {
      html += block === 'pre' ? '\n' : '';
      switchBlock('pre');
      html += inner;
      continue;
    }
    if (inner.trim() === '' && !style.list) {
      closeLists(0);
      continue;
    }
    switchBlock(style.isQuote ? 'blockquote' : '');
    if (style.list) {
      const tag = style.list === 'bullet' ? 'ul' : 'ol';
      const depth = Math.min(Math.max(style.level ?? 0, 0), lists.length);
      closeLists(depth + 1);
      if (lists.length === depth + 1 && lists[depth] !== tag) closeLists(depth);
      if (lists.length === depth + 1) html += '</li>';
      else {
        lists.push(tag);
        html += tag === 'ol' && style.start !== undefined ? `<ol start="${style.start}">` : `<${tag}>`;
      }
      html += `<li>${style.isChecked === undefined ? '' : checkBox(style.isChecked)}${inner}`;
      continue;
    }
    closeLists(0);
    const heading = style.heading ?? 0;
    html += heading >= 1 && heading <= 6 ? `<h${heading}>${inner}</h${heading}>` : `<p>${inner}</p>`;
  }
  switchBlock('');
  closeLists(0);
  return html;
}

/** Collects runs of text with `\n` between lines. A line has the style of its first run, or of its last one. */
export class LineCollector {
  readonly #lines: RichLine[] = [];
  #html = '';
  #style: LineStyle | null = null;

  add(text: string, marks: Marks, style: LineStyle | null, isLastRunDecisive = false): void {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) this.endLine(isLastRunDecisive ? style : null);
      if (part === '') continue;
      this.#html += markedText(part, marks);
      if (!isLastRunDecisive) this.#style ??= style;
    }
  }

  /** `style`: of the line. Null if its first run decides. */
  endLine(style: LineStyle | null): void {
    this.#lines.push({ html: this.#html, style: style ?? this.#style ?? {} });
    this.#html = '';
    this.#style = null;
  }

  /** Ends the line unless it is empty. */
  breakLine(): void {
    if (this.#html !== '') this.endLine(null);
  }

  /** Adds a line of plain text. */
  addLine(text: string): void {
    this.breakLine();
    this.#lines.push({ html: escapeHtml(text), style: {} });
  }

  end(): readonly RichLine[] {
    this.breakLine();
    return this.#lines;
  }
}

export type RichText = { html: string; pictures: number };

/** A Quill delta (StoryPad): runs of text, whose line ends carry the style of the line. */
export function deltaToHtml(operations: readonly unknown[]): RichText {
  const collector = new LineCollector();
  let pictures = 0;
  for (const operation of operations) {
    const { insert, attributes } = fieldsOf(operation);
    const style = fieldsOf(attributes);
    if (typeof insert !== 'string') {
      if (Object.keys(fieldsOf(insert)).some((name) => name !== 'divider')) pictures += 1;
      continue;
    }
    const marks = {
      isBold: style['bold'] === true,
      isItalic: style['italic'] === true,
      isUnderlined: style['underline'] === true,
      isStruck: style['strike'] === true,
      isCode: style['code'] === true,
      link: stringOf(style['link']),
    };
    collector.add(insert, marks, deltaLine(style), true);
  }
  return { html: linesToHtml(collector.end()), pictures };
}

function deltaLine({ list, indent, header, blockquote, ...rest }: Fields): LineStyle {
  const isCheckBox = list === 'checked' || list === 'unchecked';
  return {
    list: list === 'ordered' ? 'number' : list === 'bullet' || isCheckBox ? 'bullet' : undefined,
    isChecked: isCheckBox ? list === 'checked' : undefined,
    level: typeof indent === 'number' ? indent : 0,
    heading: typeof header === 'number' ? header : 0,
    isQuote: blockquote === true,
    isCode: rest['code-block'] === true || typeof rest['code-block'] === 'string',
  };
}

/** Bounds the recursion: deeper nodes are dropped. No editor nests so deep. */
const MAX_DEPTH = 100;

/** Lexical's editor state (Standard Notes' Super notes). */
export function lexicalToHtml(root: unknown): RichText {
  let pictures = 0;
  const inner = (node: Fields, depth: number): string =>
    depth > MAX_DEPTH
      ? ''
      : listOf(node['children'])
          .map((child) => write(fieldsOf(child), depth + 1))
          .join('');
  const write = (node: Fields, depth: number): string => {
    const { type, text, tag, url, format, listType, checked, start } = node;
    switch (type) {
      case 'text':
      case 'code-highlight':
        return markedText(stringOf(text), lexicalMarks(format)).replaceAll('\n', '<br>');
      case 'tab':
        return '\t';
      case 'linebreak':
        return '<br>';
      case 'link':
      case 'autolink': {
        const link = stringOf(url);
        const html = inner(node, depth);
        return /^(?:https?:|mailto:)/i.test(link)
          ? `<a href="${escapeHtml(link).replaceAll('"', '&quot;')}">${html}</a>`
          : html;
      }
      case 'heading':
        return /^h[1-6]$/.test(stringOf(tag))
          ? `<${stringOf(tag)}>${inner(node, depth)}</${stringOf(tag)}>`
          : `<p>${inner(node, depth)}</p>`;
      case 'quote':
        return `<blockquote><p>${inner(node, depth)}</p></blockquote>`;
      case 'code':
        return `<pre>${inner(node, depth)}</pre>`;
      case 'list': {
        const name = listType === 'number' ? 'ol' : 'ul';
        const first = name === 'ol' && Number.isInteger(start) && start !== 1 ? ` start="${String(start)}"` : '';
        return `<${name}${first}>${inner(node, depth)}</${name}>`;
      }
      case 'listitem':
        return `<li>${typeof checked === 'boolean' ? checkBox(checked) : ''}${inner(node, depth)}</li>`;
      case 'table':
        return `<table>${inner(node, depth)}</table>`;
      case 'tablerow':
        return `<tr>${inner(node, depth)}</tr>`;
      case 'tablecell':
        return `<td>${inner(node, depth)}</td>`;
      case 'horizontalrule':
        return '<hr>';
      case 'paragraph':
      case 'collapsible-title':
        return `<p>${inner(node, depth)}</p>`;
      case 'snfile':
      case 'unencrypted-image':
        pictures += 1;
        return '';
      default:
        return inner(node, depth) + (typeof text === 'string' ? escapeHtml(text) : '');
    }
  };
  return { html: write(fieldsOf(root), 0), pictures };
}

/** `format`: the bits of a Lexical text node. */
const lexicalMarks = (format: unknown): Marks => {
  const bits = typeof format === 'number' ? format : 0;
  return {
    isBold: (bits & 1) !== 0,
    isItalic: (bits & 2) !== 0,
    isStruck: (bits & 4) !== 0,
    isUnderlined: (bits & 8) !== 0,
    isCode: (bits & 16) !== 0,
  };
};

type Tag = {
  name: string;
  kind: 'start' | 'end' | 'empty';
  /** The text between the name and `>`. */
  attributes: string;
  start: number;
  end: number;
};

const CDATA_START = '<![CDATA[';
const CDATA_END = ']]>';

/** All tags in order. Comments and CDATA sections are skipped. */
export function* tagsOf(markup: string): Generator<Tag> {
  let at = markup.indexOf('<');
  while (at >= 0) {
    const skipped = [
      ['<!--', '-->'],
      [CDATA_START, CDATA_END],
    ].find(([opening]) => markup.startsWith(opening!, at));
    if (skipped) {
      const end = markup.indexOf(skipped[1]!, at);
      if (end < 0) return;
      at = markup.indexOf('<', end);
      continue;
    }
    const name = /^<\/?([a-z][\w:-]*)/i.exec(markup.slice(at, at + 64));
    if (!name) {
      at = markup.indexOf('<', at + 1);
      continue;
    }
    const end = endOfTag(markup, at + name[0].length);
    if (end < 0) return;
    const attributes = markup.slice(at + name[0].length, end - 1);
    const kind = name[0].startsWith('</') ? 'end' : attributes.endsWith('/') ? 'empty' : 'start';
    yield { name: name[1]!.toLowerCase(), kind, attributes, start: at, end };
    at = markup.indexOf('<', end);
  }
}

/** The index behind the `>` that closes a tag; quoted values can contain one. Negative if the tag is cut off. */
function endOfTag(markup: string, from: number): number {
  for (let at = from; at < markup.length; at += 1) {
    const sign = markup[at];
    if (sign === '>') return at + 1;
    if ((sign === '"' || sign === "'") && markup[at - 1] === '=') {
      at = markup.indexOf(sign, at + 1);
      if (at < 0) return -1;
    }
  }
  return -1;
}

/** The decoded value of an attribute; null if the tag has none of this name. */
export function attributeOf(attributes: string, name: string): string | null {
  const match = new RegExp(String.raw`(?:^|\s)${name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`, 'i').exec(attributes);
  return match ? decodeEntities(match[1] ?? match[2] ?? match[3] ?? '') : null;
}

export const hasClass = (attributes: string, name: string): boolean =>
  (attributeOf(attributes, 'class') ?? '').split(/\s+/).includes(name);

export type Element = { attributes: string; inner: string; start: number; end: number };

/**
 * The elements of a name that match, without those inside another match. An element that is never closed reaches to
 * the end of the text.
 */
export function findElements(
  markup: string,
  name: string,
  matches: (attributes: string) => boolean = () => true,
): Element[] {
  const found: Element[] = [];
  let open: { tag: Tag; depth: number } | null = null;
  for (const tag of tagsOf(markup)) {
    if (tag.name !== name) continue;
    if (!open) {
      if (tag.kind === 'end' || !matches(tag.attributes)) continue;
      if (tag.kind === 'empty') found.push({ attributes: tag.attributes, inner: '', start: tag.start, end: tag.end });
      else open = { tag, depth: 1 };
    } else if (tag.kind !== 'empty') {
      open.depth += tag.kind === 'start' ? 1 : -1;
      if (open.depth > 0) continue;
      found.push({
        attributes: open.tag.attributes,
        inner: markup.slice(open.tag.end, tag.start),
        start: open.tag.start,
        end: tag.end,
      });
      open = null;
    }
  }
  if (open)
    found.push({
      attributes: open.tag.attributes,
      inner: markup.slice(open.tag.end),
      start: open.tag.start,
      end: markup.length,
    });
  return found;
}

/** Replaces the outermost elements that match. `replace` decides about those inside. */
export function replaceElements(
  markup: string,
  name: string,
  matches: (attributes: string) => boolean,
  replace: (element: Element) => string,
): string {
  let result = '';
  let from = 0;
  for (const element of findElements(markup, name, matches)) {
    result += markup.slice(from, element.start) + replace(element);
    from = element.end;
  }
  return result + markup.slice(from);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Decodes the entities of XML, `&nbsp;` and numbers. Others stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (entity, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()]!;
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff) ? String.fromCodePoint(code) : entity;
    },
  );

/** The text of an XML element: CDATA sections as they are, entities decoded outside them. */
export function contentOf(inner: string): string {
  let text = '';
  let from = 0;
  for (;;) {
    const start = inner.indexOf(CDATA_START, from);
    const end = start < 0 ? -1 : inner.indexOf(CDATA_END, start + CDATA_START.length);
    if (end < 0) return text + decodeEntities(inner.slice(from));
    text += decodeEntities(inner.slice(from, start)) + inner.slice(start + CDATA_START.length, end);
    from = end + CDATA_END.length;
  }
}

/** The text of a short element on one line: a title or a date. */
export function textOf(markup: string): string {
  let text = '';
  let from = 0;
  for (const { start, end } of tagsOf(markup)) {
    text += markup.slice(from, start);
    from = end;
  }
  return decodeEntities(text + markup.slice(from))
    .replace(/\s+/g, ' ')
    .trim();
}

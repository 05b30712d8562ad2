/**
 * HTML from the two ways in which journals store rich text: lines with attributes (Day One's `richText`, the deltas of
 * Quill), and trees (Lexical). Check boxes stay text: `[ ]` and `[x]`.
 */
import { escapeHtml } from '../export/escape-html.ts';
import { fieldsOf, listOf, stringOf, type Fields } from './json-fields.ts';

export type Marks = {
  isBold?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
  isStruck?: boolean;
  isCode?: boolean;
  /** A web address; other links lead into the program and keep only their text. */
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

/** Lines become paragraphs, headings, code and nested lists. A list item may be deeper by one level than the one before. */
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

/** Collects runs of text with `\n` between lines. The style of a line is the one that its first or last run names. */
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

  /** An empty line keeps the style that was given with its end. */
  endLine(style: LineStyle | null): void {
    this.#lines.push({ html: this.#html, style: style ?? this.#style ?? {} });
    this.#html = '';
    this.#style = null;
  }

  /** Ends the line unless it is empty. */
  breakLine(): void {
    if (this.#html !== '') this.endLine(null);
  }

  /** A line of its own, as it stands. */
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

/** Deeper nodes are not read: no editor nests so deep, and recursion has an end. */
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

/** Lexical's bits of a text node. */
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

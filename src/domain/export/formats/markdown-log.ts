/** Converts Markdown to the HTML of a log, line by line, for our own exports and for pasted text. */
import { escapeHtml } from '../escape-html.ts';
import { readInline } from './markdown-inline-reader.ts';

type Container = { kind: 'quote' } | { kind: 'item'; width: number };
type List = { tag: 'ol' | 'ul'; next: number };

const MARKER = /^(?:(-?\d{1,9})[.)]|[-+*])(?: {1,4}|$)/;
const FENCE = /^(`{3,}|~{3,})[^`]*$/;
const HEADING = /^(#{1,6})(?: +(.*))?$/s;
const BLANK = /^[ \t]*$/;
const RULE = /^(?:-{3,}|\*{3,}|_{3,})$/;
const COMMENT = /^<!--[^]*-->$/;
/** Maximum nesting of quotes and items. An item takes two of the `ENTRY_MAX_DEPTH` levels (`entry-html.ts`). */
const MAX_DEPTH = 30;

export type MarkdownSource =
  /** A day of an export: headings are one level below the day's, consecutive lines form one paragraph. */
  | 'export'
  /**
   * Foreign Markdown: headings keep their level, each line is a paragraph, and nested lists may be indented too little.
   */
  | 'paste';

/** CommonMark requires three spaces below `1. `, but many users type two. */
const SHORT_INDENT = /^ {2,}(?=(?:\d{1,9}[.)]|[-+*]) )/;
const TASK_BOX = /^\[[ xX]\] +(?=\S)/;

export class MarkdownLog {
  private readonly source: MarkdownSource;
  private readonly open: Container[] = [];
  /** The list of an open or just closed item, by depth. */
  private readonly lists: (List | undefined)[] = [];
  private readonly html: string[] = [];
  private paragraph: string | null = null;
  private breaks = false;
  private code: { fence: string; depth: number; lines: string[] } | null = null;

  constructor(source: MarkdownSource = 'export') {
    this.source = source;
  }

  /** True inside a fenced code block, where headings don't count. */
  get inCode(): boolean {
    return this.code !== null;
  }

  add(line: string): void {
    if (this.code !== null && this.addCode(this.code, line)) return;
    const [matched, inside] = this.matchContainers(line, this.open.length);
    if (BLANK.test(inside) && matched === this.open.length) {
      this.endParagraph();
      return;
    }
    if (matched < this.open.length) this.closeTo(matched);
    const text = this.openContainers(inside.replace(/^ +/, ''));
    const fence = FENCE.exec(text)?.[1];
    const heading = HEADING.exec(text);
    if (fence !== undefined) {
      this.endParagraph();
      this.endList();
      this.code = { fence, depth: this.open.length, lines: [] };
    } else if (text === '' || RULE.test(text)) this.endParagraph();
    else if (COMMENT.test(text)) {
      this.endParagraph();
      this.endList();
    } else if (heading) {
      this.endParagraph();
      this.endList();
      const below = this.source === 'export' ? 1 : 0;
      const level = Math.min(3, Math.max(1, heading[1]!.length - below));
      this.html.push(`<h${level}>${readInline(heading[2] ?? '').html}</h${level}>`);
    } else this.addText(text);
  }

  end(): string {
    if (this.code) this.endCode(this.code);
    this.closeTo(0);
    this.endList();
    return this.html.join('');
  }

  /** The number of the first `depth` open containers that the line continues, and the rest of the line. */
  private matchContainers(line: string, depth: number): [matched: number, inside: string] {
    let rest = line;
    let matched = 0;
    for (const container of this.open.slice(0, depth)) {
      if (container.kind === 'quote') {
        const quote = /^ {0,3}> ?/.exec(rest);
        if (!quote) break;
        rest = rest.slice(quote[0].length);
      } else if (rest.startsWith(' '.repeat(container.width))) rest = rest.slice(container.width);
      else if (BLANK.test(rest)) rest = '';
      else if (this.source === 'paste' && SHORT_INDENT.test(rest)) rest = rest.replace(/^ +/, '');
      else break;
      matched += 1;
    }
    return [matched, rest];
  }

  /** True if the line belongs to the code block or closes it. */
  private addCode(code: { fence: string; depth: number; lines: string[] }, line: string): boolean {
    const [matched, inside] = this.matchContainers(line, code.depth);
    if (matched < code.depth) {
      this.endCode(code);
      return false;
    }
    const fence = inside.trim();
    if (fence.startsWith(code.fence) && fence === code.fence[0]!.repeat(fence.length)) this.endCode(code);
    else code.lines.push(inside);
    return true;
  }

  private endCode({ lines }: { lines: string[] }): void {
    this.html.push(`<pre><code>${lines.map(escapeHtml).join('\n')}</code></pre>`);
    this.code = null;
  }

  private openContainers(line: string): string {
    let rest = line;
    while (this.open.length < MAX_DEPTH) {
      const marker = RULE.test(rest) ? null : MARKER.exec(rest);
      if (marker) {
        this.endParagraph();
        this.beginItem(marker[1] === undefined ? null : Number(marker[1]));
        const width = marker[0].length + (marker[0].endsWith(' ') ? 0 : 1);
        this.open.push({ kind: 'item', width });
        rest = rest.slice(marker[0].length);
        // Logs have no task lists: pasted tasks lose their checkboxes.
        if (this.source === 'paste') rest = rest.replace(TASK_BOX, '');
      } else if (rest.startsWith('>')) {
        this.endParagraph();
        this.endList();
        this.html.push('<blockquote>');
        this.open.push({ kind: 'quote' });
        rest = rest.replace(/^> ?/, '');
      } else break;
    }
    return rest;
  }

  private beginItem(number: number | null): void {
    const tag = number === null ? 'ul' : 'ol';
    const list = this.lists[this.open.length];
    if (list && (list.tag !== tag || (number !== null && number !== list.next))) this.endList();
    if (!this.lists[this.open.length]) {
      const start = number === null || number === 1 || Math.abs(number) > 9_999_999 ? '' : ` start="${number}"`;
      this.html.push(`<${tag}${start}>`);
      this.lists[this.open.length] = { tag, next: number ?? 1 };
    }
    this.lists[this.open.length]!.next += 1;
    this.html.push('<li>');
  }

  private addText(text: string): void {
    const { html, breaks } = readInline(text);
    // In pasted notes each line is a paragraph; inside an item it is a wrapped line.
    if (this.source === 'paste' && this.open.at(-1)?.kind !== 'item') this.endParagraph();
    if (this.paragraph === null) {
      this.endList();
      this.paragraph = html;
    } else this.paragraph += (this.breaks ? '<br>' : ' ') + html;
    this.breaks = breaks;
  }

  private endParagraph(): void {
    if (this.paragraph !== null) this.html.push(`<p>${this.paragraph}</p>`);
    this.paragraph = null;
    this.breaks = false;
  }

  /** Closes the list at the current depth; all its items must be closed. */
  private endList(): void {
    const list = this.lists[this.open.length];
    if (list) this.html.push(`</${list.tag}>`);
    this.lists[this.open.length] = undefined;
  }

  private closeTo(depth: number): void {
    this.endParagraph();
    while (this.open.length > depth) {
      this.endList();
      const container = this.open.pop()!;
      this.html.push(container.kind === 'quote' ? '</blockquote>' : '</li>');
    }
  }
}

/** Reads the Markdown of one day, line by line, into the HTML of a log. Knows what our own export writes, and what people paste. */
import { escapeHtml } from './escape-html.ts';
import { readInline } from './markdown-inline-reader.ts';

type Open = { kind: 'quote' } | { kind: 'item'; width: number };
type OpenList = { tag: 'ol' | 'ul'; next: number };

const MARKER = /^(?:(-?\d{1,9})[.)]|[-+*])(?: {1,4}|$)/;
const FENCE = /^(`{3,}|~{3,})[^`]*$/;
const HEADING = /^(#{1,6})(?: +(.*))?$/s;
const BLANK = /^[ \t]*$/;
const RULE = /^(?:-{3,}|\*{3,}|_{3,})$/;
const COMMENT = /^<!--[^]*-->$/;
/** A log holds 100 elements inside each other; a list is two of them. */
const MAX_DEPTH = 30;

export type MarkdownSource =
  /** One day of an export: the log's headings stand one level below the day's, lines of a paragraph are one paragraph. */
  | 'export'
  /** Written elsewhere: headings have their own level, every line stays one, and lists may be indented carelessly. */
  | 'paste';

/** `1. ` needs three spaces below it, and many people type two. */
const CARELESS_INDENT = /^ {2,}(?=(?:\d{1,9}[.)]|[-+*]) )/;
const TASK_BOX = /^\[[ xX]\] +(?=\S)/;

export class MarkdownLog {
  private readonly source: MarkdownSource;
  private readonly open: Open[] = [];
  /** The list that an item, open or just closed, belongs to; by its depth among the containers. */
  private readonly lists: (OpenList | undefined)[] = [];
  private readonly html: string[] = [];
  private paragraph: string | null = null;
  private breaks = false;
  private code: { fence: string; depth: number; lines: string[] } | null = null;

  constructor(source: MarkdownSource = 'export') {
    this.source = source;
  }

  /** Between two fences, where a heading is no heading. */
  get inCode(): boolean {
    return this.code !== null;
  }

  add(line: string): void {
    if (this.code !== null && this.addCode(this.code, line)) return;
    const [matched, inside] = this.continued(line, this.open.length);
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
    } else this.addWords(text);
  }

  end(): string {
    if (this.code) this.endCode(this.code);
    this.closeTo(0);
    this.endList();
    return this.html.join('');
  }

  /** How many of the first `depth` open containers the line goes on with, and what it says inside them. */
  private continued(line: string, depth: number): [matched: number, inside: string] {
    let rest = line;
    let matched = 0;
    for (const container of this.open.slice(0, depth)) {
      if (container.kind === 'quote') {
        const quote = /^ {0,3}> ?/.exec(rest);
        if (!quote) break;
        rest = rest.slice(quote[0].length);
      } else if (rest.startsWith(' '.repeat(container.width))) rest = rest.slice(container.width);
      else if (BLANK.test(rest)) rest = '';
      else if (this.source === 'paste' && CARELESS_INDENT.test(rest)) rest = rest.replace(/^ +/, '');
      else break;
      matched += 1;
    }
    return [matched, rest];
  }

  /** True when the line was one of the code, or the end of it. */
  private addCode(code: { fence: string; depth: number; lines: string[] }, line: string): boolean {
    const [matched, inside] = this.continued(line, code.depth);
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
        // A log says what was done: like every other pasted list, tasks come without their boxes.
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

  private addWords(text: string): void {
    const { html, breaks } = readInline(text);
    // Lines of a note are lines; inside an item they are one that was too long.
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

  /** Ends the list at the present depth, whose items are all closed. */
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

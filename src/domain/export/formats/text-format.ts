/**
 * The plain text export (docs/specification/export-and-import.md 2): a line with the day, a line of dashes, the text,
 * an empty line. Lists keep their numbers; nested lists are indented by two spaces.
 *
 * Ambiguous lines (a paragraph that starts with `1.` or a space, a line that looks like a day's heading) are escaped
 * with a backslash, which the parser removes.
 */
import { dayLabel } from '#domain/day/day.ts';
import {
  DASHES,
  DAY_HEADING,
  isDayHeading,
  parseDayHeading,
  refuseDay,
  type FormatWriter,
  type ParsedDay,
} from '../../exported-entry.ts';
import { escapeHtml } from '../../log/entry-html.ts';
import { exactLogLines, isItem, sharedDepth, type Item } from '../../log/log-lines.ts';

const MARKER = /^(?:(-?\d{1,8})\.|-)(?: (.*))?$/s;
const RULE = new RegExp(`^${DASHES}{3,}\\s*$`);
/** Matches the first day heading of a file. */
export const TEXT_DAY = new RegExp(`^${DAY_HEADING}\\s*?(?:\\r\\n|\\r|\\n)${DASHES}{3,}`, 'm');
/** Deeper lists are flattened to this depth. A list takes two of the `ENTRY_MAX_DEPTH` levels (`entry-html.ts`). */
const MAX_DEPTH = 30;

export const textWriter = (): FormatWriter => ({
  begin: () => '',
  entry: ({ date, content }) => {
    const label = dayLabel(date);
    return `${[label, '-'.repeat(label.length), ...textLines(content), ''].join('\n')}\n`;
  },
  end: () => '',
});

function textLines(content: string): string[] {
  const output: string[] = [];
  let before: readonly Item[] = [];
  for (const { path, text } of exactLogLines(content)) {
    const items = path.filter(isItem);
    const shared = sharedDepth(before, items);
    const startsItem = shared < items.length;
    // An item that starts with a nested list gets a line that has only its marker.
    for (let depth = shared; depth < items.length - 1; depth += 1) output.push(indent(depth) + items[depth]!.marker);
    if (startsItem) {
      const space = text === '' ? '' : ' ';
      const mark = text.startsWith('\\') ? '\\' : '';
      output.push(indent(items.length - 1) + items.at(-1)!.marker + space + mark + text);
    } else if (text === '') output.push('');
    else output.push(indent(items.length) + (isAmbiguous(text) ? '\\' : '') + text);
    before = items;
  }
  return output;
}

const indent = (depth: number): string => '  '.repeat(depth);

const isAmbiguous = (text: string): boolean =>
  /^[ \\]/.test(text) || MARKER.test(text) || isDayHeading(text.replace(/^# +/, ''));

/** Yields nothing for a text that is not an export. */
export function* readText(text: string): Generator<ParsedDay> {
  let label: string | null = null;
  let body: string[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    if (isDayHeading(line) && RULE.test(lines[index + 1] ?? '')) {
      if (label !== null) yield readDay(label, body);
      label = line;
      body = [];
      index += 1;
    } else body.push(line);
  }
  if (label !== null) yield readDay(label, body);
}

function readDay(label: string, lines: readonly string[]): ParsedDay {
  const date = parseDayHeading(label);
  if (date === null) return refuseDay(label, 'invalidDate');
  const writer = new LogBuilder();
  const last = lines.findLastIndex((line) => line !== '');
  for (const line of lines.slice(0, last + 1)) writer.add(line);
  return { kind: 'day', day: { date, content: writer.end(), coach: null } };
}

/** Rebuilds paragraphs and nested lists from lines. */
class LogBuilder {
  private readonly lists: { tag: string; next: number }[] = [];
  private readonly html: string[] = [];
  private blanks = 0;

  add(line: string): void {
    if (line === '') {
      this.blanks += 1;
      return;
    }
    const text = line.replace(/^ +/, '');
    const depth = Math.min((line.length - text.length) >> 1, this.lists.length, MAX_DEPTH);
    const marker = MARKER.exec(text);
    if (marker) this.addItem(depth, marker[1] === undefined ? null : Number(marker[1]), marker[2] ?? '');
    else {
      this.closeTo(depth);
      this.addParagraphs(text);
    }
    this.blanks = 0;
  }

  end(): string {
    this.closeTo(0);
    return this.html.join('');
  }

  private addItem(depth: number, number: number | null, text: string): void {
    const tag = number === null ? 'ul' : 'ol';
    this.closeTo(depth + 1);
    const list = this.lists[depth];
    if (list?.tag === tag && (number === null || number === list.next)) this.html.push('</li><li>');
    else {
      this.closeTo(depth);
      this.html.push('<p></p>'.repeat(this.blanks));
      const start = number === null || number === 1 || Math.abs(number) > 9_999_999 ? '' : ` start="${number}"`;
      this.html.push(`<${tag}${start}><li>`);
      this.lists.push({ tag, next: number ?? 1 });
    }
    this.lists[depth]!.next += 1;
    this.blanks = 0;
    this.addParagraphs(text);
  }

  private addParagraphs(text: string): void {
    this.html.push('<p></p>'.repeat(this.blanks), `<p>${escapeHtml(text.replace(/^\\/, ''))}</p>`);
  }

  private closeTo(depth: number): void {
    while (this.lists.length > depth) this.html.push(`</li></${this.lists.pop()!.tag}>`);
  }
}

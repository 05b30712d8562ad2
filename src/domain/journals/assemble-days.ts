/** Joins imported entries into one log for each day, in the order of their times. */
import type { Day } from '../day/day.ts';
import { escapeHtml, withoutControls } from '../log/entry-html.ts';
import type { ImportedDay } from '../exported-entry.ts';
import { ENTRY_MAX_BYTES } from '../log/entry.ts';
import { entryText, isEmptyLog } from '../log/entry-text.ts';
import { skip, type JournalEntry, type Skipped } from './journal-reader.ts';
import { normalizeText, textToLog } from '../log/text-to-log.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';

/** An entry whose body is the HTML of a log. `exact`: it is a whole day of our own JSON export. */
export type LogEntry = Omit<JournalEntry, 'kind' | 'body'> & { html: string; exact: boolean };

/** `exact`: as in `LogEntry`. `pictures`: how many pictures and other attachments are left out. */
export type JournalDay = ImportedDay & { exact: boolean; pictures: number };
export type AssembledDays = { days: JournalDay[]; skipped: Skipped[] };

/**
 * Yields after each step, so that the caller can yield to the main thread. `lastDay`: the last day that the server
 * stores (`latestToday`). Entries without a time come first, in the order of the file.
 */
export function* assembleDays(entries: readonly LogEntry[], lastDay: Day): Generator<void, AssembledDays> {
  const byDay = new Map<Day, LogEntry[]>();
  const skipped: Skipped[] = [];
  for (const entry of entries) {
    if (entry.day > lastDay) skipped.push(skip(entry.source, 'futureDay'));
    else if (entry.title === null && isEmptyLog(entry.html))
      skipped.push(skip(entry.source, entry.pictures > 0 ? 'onlyPictures' : 'empty'));
    else {
      const ofDay = byDay.get(entry.day);
      if (ofDay) ofDay.push(entry);
      else byDay.set(entry.day, [entry]);
    }
    yield;
  }
  const days: JournalDay[] = [];
  for (const [date, ofDay] of byDay) {
    ofDay.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : (a.time ?? '') > (b.time ?? '') ? 1 : 0));
    const kept = withoutLongest(ofDay.map((entry) => ({ entry, html: withTitle(entry) })));
    const isKept = new Set(kept.map(({ entry }) => entry));
    for (const entry of ofDay) if (!isKept.has(entry)) skipped.push(skip(entry.source, 'tooLong'));
    if (kept.length > 0) {
      const content = kept.map(({ html }) => html).join(SEPARATOR);
      const pictures = kept.reduce((sum, { entry }) => sum + entry.pictures, 0);
      const [first] = ofDay as [LogEntry];
      const exact = ofDay.length === 1 && first.exact;
      days.push({ date, content, exact, pictures, coach: (ofDay.length === 1 && first.coach) || null });
    }
    yield;
  }
  return { days, skipped };
}

const SEPARATOR = '<p></p>';

/** Leaves out the longest entries until the others fit into one log. */
function withoutLongest<T extends { html: string }>(ofDay: readonly T[]): T[] {
  const sizes = new Map(ofDay.map((entry) => [entry, byteLength(entry.html) + SEPARATOR.length]));
  let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, -SEPARATOR.length);
  for (const [entry, bytes] of [...sizes].toSorted(([, a], [, b]) => b - a)) {
    if (total <= ENTRY_MAX_BYTES) break;
    sizes.delete(entry);
    total -= bytes;
  }
  return [...sizes.keys()];
}

function withTitle({ title, html }: LogEntry): string {
  if (title === null) return html;
  const [firstLine = ''] = entryText(html).split('\n', 1);
  return firstLine.trim() === title.trim() ? html : `<p><strong>${escapeHtml(title)}</strong></p>${html}`;
}

/** The UTF-8 length, without `TextEncoder` or `Buffer`, which the domain layer must not use. */
function byteLength(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each surrogate of a pair counts for two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x8_00 || (unit >= 0xd8_00 && unit < 0xe0_00) ? 2 : 3;
  }
  return bytes;
}

/** Control characters that end a line. `cleanText` maps them to U+2028, which the parsers read as a line end. */
const OLD_LINE_END = /[\v\f\x85]/g;

/** Removes control characters, and lone surrogates, which PostgreSQL rejects. */
export const cleanText = (text: string): string =>
  withoutControls(text.replace(OLD_LINE_END, '\u2028')).replace(/\p{Surrogate}/gu, '');

export function toLog({ format, text }: Exclude<JournalEntry['body'], { format: 'html' }>): string {
  if (format === 'log') return text;
  const clean = normalizeText(cleanText(text));
  return format === 'text' ? textToLog(clean).html : parseMarkdown(clean, { softBreaks: 'keep' });
}

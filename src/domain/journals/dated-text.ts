/** Splits a text at headings that are dates: `# 2024-05-01`, a setext heading, a bold line, or a line of its own. */
import { findContext, findDate, type DateContext, type WrittenDate } from './written-dates.ts';

export type Section = { date: WrittenDate; title: string; text: string };

export type DatedText = {
  /** The text above the first date. */
  before: string;
  sections: Section[];
};

type Heading = { text: string; level: number; lines: number };

const FENCE = /^[\s>]*(?:[-*+] )?(`{3,}|~{3,})/;
/** Lines that are longer are sentences, and not looked at. */
const MAX_HEADING = 200;

/** `level`: 1 to 6 for Markdown's headings, 7 for a bold line, 8 for a line that is nothing but a date. */
function headingAt(lines: readonly string[], at: number): Heading | null {
  const line = lines[at]!;
  if (line.length > MAX_HEADING || line.trim() === '') return null;
  const atx = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line);
  if (atx) return { text: atx[2]!, level: atx[1]!.length, lines: 1 };
  const below = lines[at + 1]?.trim() ?? '';
  const isAfterBlank = at === 0 || lines[at - 1]!.trim() === '';
  if (isAfterBlank && /^(?:={2,}|-{2,})$/.test(below) && /^ {0,3}[^\s>*+-]/.test(line))
    return { text: line, level: below.startsWith('=') ? 1 : 2, lines: 2 };
  const bold = /^(\*\*|__)(.+)\1:?\s*$/.exec(line);
  return bold ? { text: bold[2]!, level: 7, lines: 1 } : { text: line, level: 8, lines: 1 };
}

/** The day of the month alone, below a heading of its month: `1`, `Wed 1`, `1st`. */
function dayOfMonth(text: string, { year, month }: DateContext): WrittenDate | null {
  if (year === undefined || month === undefined) return null;
  const number = /^(?:\p{L}+[.,]?\s+)?(\d{1,2})(?:st|nd|rd|th|\.)?(?:[\s,]+\p{L}+\.?)?$/u.exec(text.trim())?.[1];
  return number === undefined ? null : findDate(`${year}-${month}-${number.padStart(2, '0')}`);
}

/** `context`: the year and month that folders and the name of the file say. */
export function splitAtDates(source: string, context: DateContext = {}): DatedText {
  const lines = source.split(/\r\n?|\n/);
  const sections: Section[] = [];
  const before: string[] = [];
  let place = context;
  let body = before;
  let dayLevel: number | null = null;
  let fence: string | null = null;
  const bodies: string[][] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    const heading = fence === null && mark === undefined ? headingAt(lines, at) : null;
    const inPlace = heading && heading.level < 8 ? findContext(heading.text, place) : null;
    const date =
      heading && !inPlace
        ? (findDate(heading.text, place) ?? dayOfMonth(heading.text, heading.level < 8 ? place : {}))
        : null;
    // A deeper heading with a date belongs to the day's text, and so does a sentence that begins with one.
    const isDay =
      heading !== null &&
      date?.isFirst === true &&
      heading.level <= (dayLevel ?? 8) &&
      (heading.level < 7 || date.rest === '');
    if (isDay) {
      dayLevel ??= heading.level;
      body = [];
      bodies.push(body);
      sections.push({ date, title: date.rest, text: '' });
      at += heading.lines - 1;
    } else if (inPlace && heading!.level < (dayLevel ?? 8)) {
      place = inPlace;
      body = before;
      at += heading!.lines - 1;
    } else body.push(line);
  }
  return {
    before: before.join('\n').trim(),
    sections: sections.map((section, index) => ({ ...section, text: bodies[index]!.join('\n').trim() })),
  };
}

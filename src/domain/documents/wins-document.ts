/**
 * A wins document: lines that a user picked from the logs of a period, in an order and under headings of their own
 * (docs/specification/wins.md 1). The log stays as it is; a line keeps its day and its original text.
 */
import { dateRangeLabel } from '../day/date-range.ts';
import { isDay, MONTHS, type Day } from '../day/day.ts';
import { daysOfMonth, monthOf, yearOf, type MonthNumber } from '../day/month.ts';
import { markdownOfText } from '../markdown/write-markdown.ts';

export type WinLine = {
  kind: 'win';
  id: string;
  date: Day;
  /** The text in the document, which the user may have edited. */
  text: string;
  /** The original line of the log or review. It identifies the candidate that the user picked (`lineKey`). */
  source: string;
};
export type HeadingLine = { kind: 'heading'; id: string; text: string };
export type DocumentLine = WinLine | HeadingLine;

export type WinsDocument = {
  title: string;
  /** Shown below the title; empty for none. */
  author: string;
  from: Day;
  to: Day;
  lines: readonly DocumentLine[];
};

export const MAX_DOCUMENTS = 100;
export const DOCUMENT_MAX_BYTES = 256 * 1024;
export const TITLE_MAX_LENGTH = 200;
export const LINE_MAX_LENGTH = 2_000;

/** The stored JSON of a document, without its title and its period, which are columns. */
export const formatContent = ({ author, lines }: Pick<WinsDocument, 'author' | 'lines'>): string =>
  JSON.stringify({ author, lines });

/**
 * Null for a text that is not a document. Threat: a client other than ours writes any text into the column, which a
 * stranger then opens by a link. Every member is checked, and a bad one makes the whole text invalid.
 */
export function parseContent(text: string): Pick<WinsDocument, 'author' | 'lines'> | null {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(content) || typeof content['author'] !== 'string' || !Array.isArray(content['lines'])) return null;
  const lines = content['lines'].map(parseLine);
  return lines.every((line) => line !== null) ? { author: content['author'], lines } : null;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parseLine(value: unknown): DocumentLine | null {
  if (!isRecord(value)) return null;
  const { kind, id, text, date, source } = value;
  if (typeof id !== 'string' || typeof text !== 'string') return null;
  if (kind === 'heading') return { kind, id, text };
  return kind === 'win' && isDay(date) && typeof source === 'string' ? { kind, id, date, text, source } : null;
}

export type DocumentSection = { heading: string | null; wins: readonly WinLine[] };

/**
 * Joins a text to one line. `\s` does not match the line end U+0085, and the exports drop control characters, which
 * would join two words.
 */
const asLine = (text: string): string => text.replaceAll(/[\s\u0085]+/g, ' ').trim();

/** The document as exports and pages show it: without blank lines, and without empty headings that have no wins. */
export function sectionsOf({ lines }: Pick<WinsDocument, 'lines'>): DocumentSection[] {
  const sections: { heading: string | null; wins: WinLine[] }[] = [{ heading: null, wins: [] }];
  for (const line of lines) {
    const text = asLine(line.text);
    if (line.kind === 'heading') sections.push({ heading: text === '' ? null : text, wins: [] });
    else if (text !== '') sections.at(-1)!.wins.push({ ...line, text });
  }
  return sections.filter(({ heading, wins }) => heading !== null || wins.length > 0);
}

export const titleOf = ({ title }: Pick<WinsDocument, 'title'>): string => asLine(title) || 'Wins';
export const authorOf = ({ author }: Pick<WinsDocument, 'author'>): string => asLine(author);

/** The lines below the title. */
export const factsOf = (document: WinsDocument): string[] =>
  [authorOf(document), periodLabel(document.from, document.to)].filter((fact) => fact !== '');

const monthName = (month: MonthNumber): string => MONTHS[month % 12]!;
const isFirstOfMonth = (date: Day): boolean => date.endsWith('-01');
const isLastOfMonth = (date: Day): boolean => daysOfMonth(monthOf(date)).at(-1) === date;

/** `2026`, `July – September 2026`, `March 2026`, or both dates of a period that does not consist of whole months. */
export function periodLabel(from: Day, to: Day): string {
  if (!isFirstOfMonth(from) || !isLastOfMonth(to)) {
    return dateRangeLabel(from, to);
  }
  const [first, last] = [monthOf(from), monthOf(to)];
  const [firstYear, lastYear] = [yearOf(first), yearOf(last)];
  if (first % 12 === 0 && last % 12 === 11)
    return firstYear === lastYear ? `${firstYear}` : `${firstYear} – ${lastYear}`;
  if (first === last) return `${monthName(first)} ${firstYear}`;
  if (firstYear === lastYear) return `${monthName(first)} – ${monthName(last)} ${lastYear}`;
  return `${monthName(first)} ${firstYear} – ${monthName(last)} ${lastYear}`;
}

/** The day beside a line: `Nov 20`, with its year in a document of several years. */
export function lineDate(date: Day, { from, to }: Pick<WinsDocument, 'from' | 'to'>): string {
  const label = `${MONTHS[Number(date.slice(5, 7)) - 1]!.slice(0, 3)} ${Number(date.slice(8))}`;
  return from.slice(0, 4) === to.slice(0, 4) && date.slice(0, 4) === from.slice(0, 4)
    ? label
    : `${label}, ${Number(date.slice(0, 4))}`;
}

/** CommonMark. Escapes text that Markdown would interpret. */
export function documentMarkdown(document: WinsDocument): string {
  const parts = [`# ${markdownOfText(titleOf(document))}`, factsOf(document).map(markdownOfText).join('  \n')];
  for (const { heading, wins } of sectionsOf(document)) {
    // Otherwise `#` at the end of a heading is its closing sequence.
    if (heading !== null) parts.push(`## ${markdownOfText(heading).replace(/(?<=^| )#+$/, '\\$&')}`);
    if (wins.length > 0) {
      parts.push(wins.map((win) => `- ${markdownOfText(win.text)} (${lineDate(win.date, document)})`).join('\n'));
    }
  }
  return `${parts.join('\n\n')}\n`;
}

const FILE_NAME_LENGTH = 80;

/** A file name that is valid on every system: letters and digits of any script. */
export function fileNameOf(document: WinsDocument, extension: 'docx' | 'md'): string {
  const words = titleOf(document).replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-');
  const name = words
    .slice(0, FILE_NAME_LENGTH)
    .toWellFormed()
    .replaceAll(/^-+|-+$/g, '');
  return `${name || 'wins'}.${extension}`;
}

/** The periods of a new wins document. The current quarter and year are whole too, so that the title can name them. */
export const DOCUMENT_PERIODS = {
  'this-year': 'This year',
  'last-year': 'Last year',
  'this-quarter': 'This quarter',
  'last-quarter': 'Last quarter',
  own: 'Own dates',
} as const;
export type DocumentPeriod = keyof typeof DOCUMENT_PERIODS;

const QUARTER_MONTHS = 3;
const YEAR_MONTHS = 12;

/** The first and the last day. For `own` those of the current year, as initial values. */
export function daysOfPeriod(period: DocumentPeriod, today: Day): { from: Day; to: Day } {
  const months = period.endsWith('quarter') ? QUARTER_MONTHS : YEAR_MONTHS;
  const running = monthOf(today) - (monthOf(today) % months);
  const first = period.startsWith('last') ? running - months : running;
  return { from: firstDayOf(first), to: daysOfMonth(first + months - 1).at(-1)! };
}

const firstDayOf = (month: MonthNumber): Day => daysOfMonth(month)[0]!;

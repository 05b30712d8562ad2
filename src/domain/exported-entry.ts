import { isDay, MONTHS, WEEKDAYS, weekdayOf, type Day } from './day/day.ts';

/** A day in an export. */
export type ExportedEntry = {
  date: Day;
  /** The stored HTML, including the date header. */
  content: string;
  hustleScore: number | null;
  feedback: string | null;
  /** ISO 8601 with a time zone. */
  analyzedAt: string | null;
};

/** Writes an export in parts that the caller concatenates, so that the whole file need not be one string. */
export type FormatWriter = {
  begin: () => string;
  /** `index` is 0 for the first day. */
  entry: (entry: ExportedEntry, index: number) => string;
  end: () => string;
};

/** `content` has no date header. It is untrusted: the server sanitizes it. */
export type ImportedDay = Omit<ExportedEntry, 'hustleScore' | 'feedback' | 'analyzedAt'> & {
  /** Null if the file has no feedback for the day. */
  coach: Pick<ExportedEntry, 'hustleScore' | 'feedback' | 'analyzedAt'> | null;
};

/** Why a day of a file is not imported. */
export const REFUSALS = {
  invalidDate: 'This date does not exist.',
  futureDay: 'This day is in the future.',
  duplicateDay: 'The file contains this day more than once. Only the first one is used.',
  notText: 'This is not the text of a log.',
  tooLong: 'This log is larger than 256 KB.',
  tooDeep: 'This log is nested too deeply.',
  empty: 'This log is empty.',
  locked: 'Your plan does not open this day, and it has a log already.',
} as const;
export type Refusal = keyof typeof REFUSALS;

/** `label` is the date as the file writes it, truncated. It is untrusted. */
export type ParsedDay = { kind: 'day'; day: ImportedDay } | { kind: 'refused'; label: string; reason: Refusal };

const LABEL_MAX_LENGTH = 40;
export const refuseDay = (label: string, reason: Refusal): ParsedDay => ({
  kind: 'refused',
  label: label.slice(0, LABEL_MAX_LENGTH).toWellFormed(),
  reason,
});

/** A hyphen, or the dash that an editor's smart punctuation puts in its place. */
export const DASHES = '[-\u2010-\u2015\u2212]';
/** The source of a pattern without anchors or capturing groups. */
export const DAY_HEADING = `(?:${WEEKDAYS.join('|')})\\s*${DASHES}{1,3}\\s*(?:${MONTHS.join('|')})\\s+\\d{1,2},\\s*\\d{1,4}`;
const HEADING = new RegExp(`^${DAY_HEADING}\\s*$`);
const PARTS = /^(\w+)\W+(\w+)\W+(\d+)\W+(\d+)/;

/** Checks the form only; the day need not exist. */
export const isDayHeading = (line: string): boolean => HEADING.test(line);

/** Null for a date that does not exist or has another weekday. */
export function parseDayHeading(line: string): Day | null {
  if (!isDayHeading(line)) return null;
  const [, weekday, month, dayOfMonth, year] = PARTS.exec(line)!;
  const monthNumber = String(MONTHS.findIndex((name) => name === month) + 1).padStart(2, '0');
  const date = `${year!.padStart(4, '0')}-${monthNumber}-${dayOfMonth!.padStart(2, '0')}`;
  return isDay(date) && weekdayOf(date) === weekday ? date : null;
}

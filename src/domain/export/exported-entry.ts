/** One day as an export carries it, and what a day of an imported file comes to. */
import type { Day } from '../day/day.ts';

export type ExportedEntry = {
  date: Day;
  /** HTML as it is stored, the date header included. */
  content: string;
  hustleScore: number | null;
  feedback: string | null;
  /** ISO 8601 with a zone. */
  analyzedAt: string | null;
};

/** What a format writes: the pieces are put one after the other, so that no file has to exist as one text. */
export type FormatWriter = {
  begin: () => string;
  /** `index` counts the days from 0. */
  entry: (entry: ExportedEntry, index: number) => string;
  end: () => string;
};

/** `content` comes without the date header. It may hold anything: nobody but the server cleans it. */
export type ImportedDay = Omit<ExportedEntry, 'hustleScore' | 'feedback' | 'analyzedAt'> & {
  /** Null where the file's format says nothing about it. */
  coach: Pick<ExportedEntry, 'hustleScore' | 'feedback' | 'analyzedAt'> | null;
};

export const REFUSALS = {
  invalidDate: 'This is not a day of the calendar.',
  futureDay: 'This day lies in the future.',
  duplicateDay: 'The file has this day twice. The first one counts.',
  notText: 'What stands here is not the text of a log.',
  tooLong: 'This log is larger than 256 KB.',
  tooDeep: 'This log is nested too deeply.',
  empty: 'There are no words in it.',
} as const;
export type Refusal = keyof typeof REFUSALS;

/** `label` is what the file calls the day, shortened: it may be anything. */
export type ReadDay = { kind: 'day'; day: ImportedDay } | { kind: 'refused'; label: string; reason: Refusal };

const LABEL_MAX_LENGTH = 40;
export const refused = (label: string, reason: Refusal): ReadDay => ({
  kind: 'refused',
  label: label.slice(0, LABEL_MAX_LENGTH).toWellFormed(),
  reason,
});

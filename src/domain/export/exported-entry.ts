import type { Day } from '../day/day.ts';

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

/** `content` has no date header. It is untrusted: only the server sanitizes it. */
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

/** `label` is the file's text for the date, cut; it is untrusted. */
export type ParsedDay = { kind: 'day'; day: ImportedDay } | { kind: 'refused'; label: string; reason: Refusal };

const LABEL_MAX_LENGTH = 40;
export const refuseDay = (label: string, reason: Refusal): ParsedDay => ({
  kind: 'refused',
  label: label.slice(0, LABEL_MAX_LENGTH).toWellFormed(),
  reason,
});

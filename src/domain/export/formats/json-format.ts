/**
 * The JSON export: a lossless copy of each day (docs/specification/export-and-import.md 3). One day per line, for
 * line-based tools.
 */
import { isDay } from '#domain/day/day.ts';
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import { refuseDay, type FormatWriter, type ImportedDay, type ParsedDay } from '../../exported-entry.ts';

export const JSON_FORMAT = 'hustle-forge/1';
/** Ends the list of days. Other members may follow (`functions/archive.ts`). */
export const JSON_ENTRIES_END = '\n]';
export const JSON_END = ' }\n';
const FEEDBACK_MAX_LENGTH = 20_000;

export function jsonWriter({ exportedAt }: { exportedAt: Date }): FormatWriter {
  return {
    begin: () =>
      `{ "format": ${JSON.stringify(JSON_FORMAT)}, "exportedAt": ${JSON.stringify(exportedAt.toISOString())}, "entries": [`,
    entry: ({ date, content, hustleScore, feedback, analyzedAt }, index) =>
      `${index === 0 ? '' : ','}\n${JSON.stringify({ date, content, hustleScore, feedback, analyzedAt })}`,
    end: () => JSON_ENTRIES_END + JSON_END,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The version that a file declares; null if it is not our export. */
export function jsonFormatOf(file: unknown): string | null {
  const format = isObject(file) ? file['format'] : undefined;
  return typeof format === 'string' && format.startsWith('hustle-forge/') ? format : null;
}

export const jsonEntriesOf = (file: unknown): readonly unknown[] | null =>
  isObject(file) && Array.isArray(file['entries']) ? (file['entries'] as unknown[]) : null;

export function* readJson(entries: readonly unknown[]): Generator<ParsedDay> {
  for (const entry of entries) yield readJsonEntry(entry);
}

/** Copies known fields only. Used by the server and the browser. */
export function readJsonEntry(entry: unknown): ParsedDay {
  const { date, content, hustleScore, feedback, analyzedAt } = isObject(entry) ? entry : {};
  const label = typeof date === 'string' ? date : '';
  if (!isDay(date)) return refuseDay(label, 'invalidDate');
  if (typeof content !== 'string') return refuseDay(label, 'notText');
  const coach = coachOf(hustleScore, feedback, analyzedAt);
  if (coach === 'unreadable') return refuseDay(label, 'notText');
  return { kind: 'day', day: { date, content: withoutDateHeader(content), coach } };
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/;
const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && INSTANT.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value));

/** PostgreSQL rejects NUL and lone surrogates. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

function coachOf(score: unknown, feedback: unknown, analyzedAt: unknown): ImportedDay['coach'] | 'unreadable' {
  const isScore = typeof score === 'number' && Number.isInteger(score) && score >= 1 && score <= 10;
  const isFeedback = typeof feedback === 'string' && feedback.length <= FEEDBACK_MAX_LENGTH && isStorable(feedback);
  if (score != null && !isScore) return 'unreadable';
  if (feedback != null && !isFeedback) return 'unreadable';
  if (analyzedAt != null && !isInstant(analyzedAt)) return 'unreadable';
  if (score == null && feedback == null && analyzedAt == null) return null;
  return {
    hustleScore: isScore ? score : null,
    feedback: isFeedback ? feedback : null,
    analyzedAt: isInstant(analyzedAt) ? analyzedAt : null,
  };
}

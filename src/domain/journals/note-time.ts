/** The day of a note in programs for notes, which are not journals: they store an instant without a zone. */
import type { Day } from '../day/day.ts';
import type { SkipReason } from './journal-reader.ts';
import { entryTime } from './json-fields.ts';
import { findDate } from './written-dates.ts';

export type NoteTime = {
  day: Day;
  time: string | null;
  /** The first line is nothing but this day and need not be repeated. */
  isDatedTitle: boolean;
};

/**
 * A note that is titled with nothing but a date belongs to that day, any other to the day on which it was created.
 * Null if there is neither.
 */
export function noteTime(title: string, created: unknown, zone: string): NoteTime | null {
  const written = findDate(title);
  const days = new Set(written?.rest === '' ? written.readings.values() : []);
  const [day] = days;
  const local = entryTime(created, null, zone);
  if (day !== undefined && days.size === 1)
    return { day, time: written?.time ?? (local?.day === day ? local.time : null), isDatedTitle: true };
  return local && { ...local, isDatedTitle: false };
}

export type DatedNote = { day: Day; time: string | null; title: string | null };

/** `noteTime` by the first readable timestamp. A title that is only the date becomes null. */
export function dayOfNote(
  title: string,
  timestamps: readonly unknown[],
  zone: string,
): DatedNote | { reason: SkipReason } {
  const created = timestamps.find((value) => entryTime(value, null, zone) !== null);
  const time = noteTime(title, created, zone);
  if (!time)
    return { reason: timestamps.some((value) => typeof value === 'string' && value !== '') ? 'invalidDate' : 'noDate' };
  const { isDatedTitle, ...local } = time;
  return { ...local, title: isDatedTitle || title === '' ? null : title };
}

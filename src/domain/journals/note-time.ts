/** The day of a note in programs for notes, which are not journals: they store an instant without a zone. */
import type { Day } from '../day/day.ts';
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
  if (day !== undefined && days.size === 1) return { day, time: written?.time ?? null, isDatedTitle: true };
  const local = entryTime(created, null, zone);
  return local && { ...local, isDatedTitle: false };
}

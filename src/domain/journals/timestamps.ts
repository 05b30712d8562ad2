/** Converts timestamps and time zones of other programs to local days and times. */
import { isDay, type Day } from '../day/day.ts';
import type { SkipReason } from './journal-reader.ts';
import { stringOf } from './json-fields.ts';
import { findDate } from './written-dates.ts';

const OFFSET = /^(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?$/i;
const MS_PER_MINUTE = 60_000;

const zones = new Map<string, boolean>();

function isZone(name: string): boolean {
  let isKnown = zones.get(name);
  if (isKnown === undefined) {
    try {
      isKnown = Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
    } catch {
      isKnown = false;
    }
    zones.set(name, isKnown);
  }
  return isKnown;
}

/**
 * The local day and time of milliseconds since 1970 or of an ISO 8601 text. `storedZone` is the entry's own zone, an
 * IANA name or an offset (`GMT+0530`). If it is missing or unknown, the user's zone decides. A text with an offset, or
 * without any zone, is the entry's own clock and stays as it is written.
 */
export function entryTime(value: unknown, storedZone: unknown, userZone: string): LocalTime | null {
  const zone = stringOf(storedZone).trim();
  const offset = OFFSET.exec(zone);
  const instant = instantOf(value);
  if (instant === null) return parseTimestamp(stringOf(value), userZone);
  if (!offset) return localTime(new Date(instant), isZone(zone) ? zone : userZone);
  const [, sign, hours, minutes = '0'] = offset;
  const shift = (Number(hours) * 60 + Number(minutes)) * MS_PER_MINUTE;
  return localTime(new Date(sign === '-' ? instant - shift : instant + shift), 'UTC');
}

/** Null if the value is not an instant but the time on a clock. */
function instantOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const text = stringOf(value).trim();
  const utc = /(?:Z|UTC)$/i.test(text) ? parseTimestamp(text, 'UTC') : null;
  return utc ? Date.parse(`${utc.day}T${utc.time}Z`) : null;
}

/** `time`: `HH:MM:SS`, without a zone. */
export type LocalTime = { day: Day; time: string };

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

/** The civil day and time of an instant in an IANA zone or at a fixed offset. Null outside the years 1 to 9999. */
export function localTime(instant: Date, zone: string): LocalTime | null {
  if (Number.isNaN(instant.getTime())) return null;
  const parts = new Map(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes, length = 2): string =>
    (parts.get(type) ?? '').padStart(length, '0');
  const day = `${part('year', 4)}-${part('month')}-${part('day')}`;
  return isDay(day) ? { day, time: `${part('hour')}:${part('minute')}:${part('second')}` } : null;
}

/** ISO 8601, extended or basic (`20230120T204520Z`), with `T` or a space. Fractions of a second are ignored. */
const TIMESTAMP =
  /^(\d{4})(-?)(\d{2})\2(\d{2})(?:[T ]+(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?)?\s*(Z|UTC|[+-]\d{2}:?(?:\d{2})?)?$/i;

/** Smaller numbers are seconds since 1970, larger ones milliseconds (seconds until the year 5138). */
const FIRST_MILLISECONDS = 1e11;

/**
 * A stored timestamp as a local day and time. A text with an offset, or without any zone, is the entry's own clock and
 * stays as it is written. UTC (`Z`) and numbers since 1970 are instants, whose day depends on `zone`. Null if the value
 * is no timestamp, or its date does not exist.
 */
export function parseTimestamp(value: unknown, zone: string): LocalTime | null {
  if (typeof value === 'number' && Number.isFinite(value))
    return localTime(new Date(Math.abs(value) < FIRST_MILLISECONDS ? value * 1000 : value), zone);
  if (typeof value !== 'string') return null;
  const match = TIMESTAMP.exec(value.trim());
  if (!match) return /^-?\d{9,13}$/.test(value.trim()) ? parseTimestamp(Number(value), zone) : null;
  const [, year, , month, date, hour = '00', minute = '00', second = '00', offset = ''] = match;
  const day = `${year}-${month}-${date}`;
  if (!isDay(day)) return null;
  const time = `${hour}:${minute}:${second}`;
  const isInstant = /^(?:Z|UTC)$/i.test(offset) && match[5] !== undefined;
  return isInstant ? localTime(new Date(`${day}T${time}Z`), zone) : { day, time };
}

/** Some programs write a day without a time as midnight in UTC. It is the same day in every zone. */
export const withoutMidnight = (timestamp: string): string => timestamp.replace(/[T ]00:00(?::00(?:\.0+)?)?Z$/i, '');

/** The day of a note. Programs for notes, unlike journals, store only the instant of its creation, and no zone. */
export type NoteTime = {
  day: Day;
  time: string | null;
  /** The title is nothing but this day, so the log does not repeat it. */
  isDatedTitle: boolean;
};

/**
 * A note whose title is nothing but a date belongs to that day, any other to the day of its creation. Null if there is
 * neither.
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

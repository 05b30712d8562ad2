/** The local day and time of an entry, from the timestamps that other programs store. */
import { isDay, type Day } from '../day/day.ts';

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
 * stays as it is written. UTC (`Z`) and numbers since 1970 are instants, and `zone` tells their day. Null if the value
 * is no timestamp or no existing date.
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

/** Access to the fields of JSON that another program wrote: a value of another type counts as absent. */
import { normalizeText } from '../log/text-to-log.ts';
import { localTime, parseTimestamp, type LocalTime } from './timestamps.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
/** With `\n` as the only line end: Day One writes U+2028 within a paragraph. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? normalizeText(value) : '');
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A title on one line; null if it is empty. */
export const titleOf = (value: unknown): string | null =>
  stringOf(value)
    .trim()
    .replace(/\s*[\r\n]+\s*/g, ' ') || null;

export const isHtml = (text: string): boolean =>
  /^\s*<(?:p|div|h[1-6]|ul|ol|blockquote|span|strong|b|em|i|u|br|pre)(?:\s[^<>]*)?\/?>/i.test(text);

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

/** Null if the value is no instant but the time on a clock. */
function instantOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const text = stringOf(value).trim();
  const utc = /(?:Z|UTC)$/i.test(text) ? parseTimestamp(text, 'UTC') : null;
  return utc ? Date.parse(`${utc.day}T${utc.time}Z`) : null;
}

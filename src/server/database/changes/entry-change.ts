/**
 * A committed change of a day, as the trigger `follow_entry` writes it: `USER DATE ROW REVISION`
 * (docs/specification/live.md). It carries no text of the log.
 */
import { isDay, type Day } from '#domain/day/day.ts';

export type EntryChange = {
  userId: string;
  date: Day;
  id: string;
  /** Null: the day no longer has the row `id`. */
  revision: number | null;
};

/** The channel of LISTEN and NOTIFY. */
export const CHANGES_CHANNEL = 'entry_changes';
/** The SQLSTATE of the notice with which the trigger reports a change to the connection that made it. */
export const REPORT_SQLSTATE = 'HF001';
/** A line of the payload that stands for any number of changes of any user: every page must read its open days again. */
export const ANY_CHANGE = '*';

/** A line that stands for any number of changes of one user is the user's id. */
const USER_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
export const isUserReport = (line: string): boolean => USER_ID.test(line);
/** The id of the user whose days a line reports. Returns `ANY_CHANGE`, which names no user, unchanged. */
export const userOfReport = (line: string): string => line.split(' ', 1)[0]!;

/** Returns null for a line of another format, such as one of a newer release. */
export function parseEntryChange(line: string): EntryChange | null {
  const [userId, date, id, revision, ...more] = line.split(' ');
  if (!userId || !isDay(date) || !id || more.length > 0) return null;
  if (revision === undefined) return { userId, date, id, revision: null };
  return /^\d{1,10}$/.test(revision) ? { userId, date, id, revision: Number(revision) } : null;
}

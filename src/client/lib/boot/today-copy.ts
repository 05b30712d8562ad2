/**
 * The copy of today's log in localStorage, which the boot script shows without waiting for IndexedDB. All other code
 * reads the copy in IndexedDB. `local-copies.ts` in sync/store writes IndexedDB first, then this copy.
 */
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import { DRAFT_PREFIX, keysUnder, TODAY_COPY_PREFIX } from '../session/storage-keys.ts';

/** The row of the log, as the server last answered. */
export type CopiedLog = Version & { html: string; savedAt: number };

/** localStorage holds 5 MB, and unsent text needs the space more. */
const MAX_LENGTH = 64 * 1024;

const keyOf = (userId: string): string => TODAY_COPY_PREFIX + userId;

/** Null without a copy of this day, if the day had no log, and if a draft may have newer text. */
export function readTodayCopy(storage: Storage, userId: string, today: Day): CopiedLog | null {
  try {
    const copy = JSON.parse(storage.getItem(keyOf(userId)) ?? 'null') as
      | (Partial<CopiedLog> & { date?: string })
      | null;
    const { date, id, html, revision, savedAt } = copy ?? {};
    if (date !== today || typeof id !== 'string' || typeof html !== 'string') return null;
    if (typeof revision !== 'number' || typeof savedAt !== 'number') return null;
    return hasDraft(storage, userId, today) ? null : { id, html, revision, savedAt };
  } catch {
    return null;
  }
}

/** Whether a page has typed text that the server may not have. */
export const hasDraft = (storage: Storage, userId: string, date: Day): boolean =>
  keysUnder(storage, `${DRAFT_PREFIX}${userId}:${date}`).length > 0;

/** Stores or deletes the copy of today's log. A no-op for any other day. */
export function storeTodayCopy(storage: Storage, userId: string, today: Day, date: Day, log: CopiedLog | null): void {
  if (date !== today) return;
  try {
    if (log && log.html.length <= MAX_LENGTH) return storage.setItem(keyOf(userId), JSON.stringify({ date, ...log }));
  } catch {
    // The storage is full. Remove the old copy, or the journal would open on an old text.
  }
  storage.removeItem(keyOf(userId));
}

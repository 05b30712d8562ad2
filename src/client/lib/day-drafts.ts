/**
 * What was written and not yet acknowledged, kept synchronously in this browser: the buffer for crashes, closed tabs and
 * dead connections, never the archive. The key names the user, so nobody finds another's words on a shared device.
 */
import { isDay } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';

const PREFIX = 'hustle-forge:draft:';

export type DayDraft = {
  html: string;
  /** The stored revision that it was written on; null where the day did not exist. */
  baseRevision: number | null;
  /** The row that it was written on: tells whether a log that is gone was moved to another day. */
  baseId?: string | undefined;
  at: number;
  /** The text of that revision, empty where there was none: tells a line that was deleted from one that was never there. */
  base?: string | undefined;
  /** What was sent since and never answered: the server may have any of it. */
  sent?: readonly string[] | undefined;
};

export type DayDrafts = ReturnType<typeof createDayDrafts>;

function parse(json: string | null): (DayDraft & { writer: unknown }) | null {
  try {
    const draft = JSON.parse(json ?? 'null') as Partial<DayDraft & { writer: unknown }> | null;
    if (typeof draft?.html !== 'string' || typeof draft.at !== 'number') return null;
    const baseRevision = typeof draft.baseRevision === 'number' ? draft.baseRevision : null;
    const baseId = typeof draft.baseId === 'string' ? draft.baseId : undefined;
    const base = typeof draft.base === 'string' ? draft.base : undefined;
    const sent: unknown[] = Array.isArray(draft.sent) ? draft.sent : [];
    return {
      ...{ html: draft.html, baseRevision, baseId, at: draft.at, base, writer: draft.writer },
      sent: sent.filter((text) => typeof text === 'string'),
    };
  } catch {
    return null;
  }
}

/** `writer` tells this page from another tab of the same user, whose drafts this one must not throw away. */
export function createDayDrafts(storage: Storage, userId: string, writer: string) {
  const keyOf = (date: Day): string => `${PREFIX}${userId}:${date}`;
  let closed = false;

  return {
    /** False when the browser refused to keep it: storage is full or switched off. */
    keep(date: Day, draft: DayDraft): boolean {
      if (closed) return true;
      try {
        storage.setItem(keyOf(date), JSON.stringify({ ...draft, writer }));
        return true;
      } catch {
        return false;
      }
    },

    /** Finds what a page before this one left, and makes it this page's own. */
    take(date: Day): DayDraft | null {
      const draft = parse(read(storage, keyOf(date)));
      if (!draft) return null;
      const { writer: _, ...found } = draft;
      this.keep(date, found);
      return found;
    },

    /** To be called when the server has the words. Another tab's draft of the same day stays. */
    drop(date: Day): void {
      if (parse(read(storage, keyOf(date)))?.writer === writer) storage.removeItem(keyOf(date));
    },

    /** The days with a draft of this user. */
    days(): Day[] {
      const prefix = keyOf('' as Day);
      return keysUnder(storage, prefix)
        .map((key) => key.slice(prefix.length))
        .filter(isDay);
    },

    /** Writes nothing from now on: this user has signed out, and a late timer must not bring the words back. */
    close: () => void (closed = true),
  };
}

/** The drafts of other users than this one: they used this browser before, and never signed out. */
export const draftsOfOthers = (storage: Storage, userId: string): string[] =>
  keysUnder(storage, PREFIX).filter((key) => !key.startsWith(`${PREFIX}${userId}:`));

/** The days that these drafts are of. */
export const daysOfDrafts = (keys: readonly string[]): Day[] =>
  [...new Set(keys.map((key) => key.slice(key.lastIndexOf(':') + 1)))].filter(isDay).sort();

function keysUnder(storage: Storage, prefix: string): string[] {
  try {
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
    return keys.filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

function read(storage: Storage, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
}

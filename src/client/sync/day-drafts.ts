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

function parse(json: string | null): (DayDraft & { sent: readonly string[] }) | null {
  try {
    const draft = JSON.parse(json ?? 'null') as Partial<DayDraft> | null;
    if (typeof draft?.html !== 'string' || typeof draft.at !== 'number') return null;
    const baseRevision = typeof draft.baseRevision === 'number' ? draft.baseRevision : null;
    const baseId = typeof draft.baseId === 'string' ? draft.baseId : undefined;
    const base = typeof draft.base === 'string' ? draft.base : undefined;
    const sent: unknown[] = Array.isArray(draft.sent) ? draft.sent : [];
    return {
      ...{ html: draft.html, baseRevision, baseId, at: draft.at, base },
      sent: sent.filter((text) => typeof text === 'string'),
    };
  } catch {
    return null;
  }
}

/**
 * `writer` tells this page from another tab of the same user: each keeps a draft of its own. With one for all of them, the
 * words of a tab that was closed without a connection would be lost as soon as another tab wrote on that day.
 */
export function createDayDrafts(storage: Storage, userId: string, writer: string) {
  const prefix = `${PREFIX}${userId}:`;
  const ownKey = (date: Day): string => `${prefix}${date}:${writer}`;
  let closed = false;

  return {
    /** False when the browser refused to keep it: storage is full or switched off. */
    keep(date: Day, draft: DayDraft): boolean {
      if (closed) return true;
      try {
        storage.setItem(ownKey(date), JSON.stringify(draft));
        return true;
      } catch {
        return false;
      }
    },

    /**
     * Finds what other pages left, and makes it this page's own: the newest draft, with what `merge` adds to it of the
     * others.
     */
    take(date: Day, merge: (newest: string, older: string) => string): DayDraft | null {
      const keys = keysUnder(storage, prefix + date);
      const [newest, ...others] = keys.flatMap((key) => parse(read(storage, key)) ?? []).sort((a, b) => b.at - a.at);
      if (!newest) return null;
      const sent = [newest, ...others].flatMap((draft) => draft.sent);
      const html = others.reduce((all, older) => merge(all, older.html), newest.html);
      const found = { ...newest, html, sent: [...new Set(sent)] };
      if (this.keep(date, found)) for (const key of keys) if (key !== ownKey(date)) storage.removeItem(key);
      return found;
    },

    /** To be called when the server has the words. Another tab's draft of the same day stays. */
    drop(date: Day): void {
      if (read(storage, ownKey(date)) !== null) storage.removeItem(ownKey(date));
    },

    /** The days with a draft of this user. */
    days(): Day[] {
      return daysOfDrafts(keysUnder(storage, prefix));
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
  [...new Set(keys.map((key) => key.slice(PREFIX.length).split(':')[1]))].filter(isDay).sort();

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

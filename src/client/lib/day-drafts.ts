/**
 * What was written and not yet acknowledged, kept synchronously in this browser: the buffer for crashes, closed tabs and
 * dead connections, never the archive. The key names the user, so nobody finds another's words on a shared device.
 */
import { isDay } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';

const PREFIX = 'hustle-forge:draft:';

/** `baseRevision` is the stored revision that the draft was written on; null where the day did not exist. */
export type DayDraft = { html: string; baseRevision: number | null; at: number };

export type DayDrafts = ReturnType<typeof createDayDrafts>;

function parse(json: string | null): (DayDraft & { writer: unknown }) | null {
  try {
    const draft = JSON.parse(json ?? 'null') as Partial<DayDraft & { writer: unknown }> | null;
    if (typeof draft?.html !== 'string' || typeof draft.at !== 'number') return null;
    const baseRevision = typeof draft.baseRevision === 'number' ? draft.baseRevision : null;
    return { html: draft.html, baseRevision, at: draft.at, writer: draft.writer };
  } catch {
    return null;
  }
}

/** `writer` tells this page from another tab of the same user, whose drafts this one must not throw away. */
export function createDayDrafts(storage: Storage, userId: string, writer: string) {
  const keyOf = (date: Day): string => `${PREFIX}${userId}:${date}`;

  return {
    /** False when the browser refused to keep it: storage is full or switched off. */
    keep(date: Day, draft: DayDraft): boolean {
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
      const { html, baseRevision, at } = draft;
      this.keep(date, { html, baseRevision, at });
      return { html, baseRevision, at };
    },

    /** To be called when the server has the words. Another tab's draft of the same day stays. */
    drop(date: Day): void {
      if (parse(read(storage, keyOf(date)))?.writer === writer) storage.removeItem(keyOf(date));
    },

    /** The days with a draft of this user. */
    days(): Day[] {
      const prefix = keyOf('' as Day);
      try {
        const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
        return keys
          .filter((key) => key.startsWith(prefix))
          .map((key) => key.slice(prefix.length))
          .filter(isDay);
      } catch {
        return [];
      }
    },
  };
}

function read(storage: Storage, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
}

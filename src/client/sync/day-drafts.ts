/**
 * Stores unacknowledged text synchronously in this browser: a buffer for crashes, closed tabs and dead connections,
 * never the archive. The key contains the user id, so the page never shows a user the drafts of another user of this
 * browser.
 */
import { isDay } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { MergeModule } from './merge-loader.ts';

const PREFIX = 'hustle-forge:draft:';

export type DayDraft = {
  html: string;
  /** The stored revision that the text is based on; null if the day had no row. */
  baseRevision: number | null;
  /**
   * The id of the row that the text is based on, or without one the id that its insert uses: a read by this id finds a
   * log that was moved to another day.
   */
  baseId?: string | undefined;
  at: number;
  /** The text of `baseRevision`, empty without a row: tells a line deleted here from a line added elsewhere. */
  base?: string | undefined;
  /** Texts sent without an answer: the server may have stored any of these texts. */
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
 * `writer` identifies this page: each tab stores its own draft. If all tabs shared one draft, a tab closed while
 * offline would lose its text as soon as another tab wrote on that day.
 */
export function createDayDrafts(storage: Storage, userId: string, writer: string) {
  const prefix = `${PREFIX}${userId}:`;
  const ownKey = (date: Day): string => `${prefix}${date}:${writer}`;
  let closed = false;

  return {
    /** Returns false if the browser rejects the draft: storage is full or disabled. */
    store(date: Day, draft: DayDraft): boolean {
      if (closed) return true;
      try {
        storage.setItem(ownKey(date), JSON.stringify(draft));
        return true;
      } catch {
        return false;
      }
    },

    /**
     * Takes over the drafts of all pages for this day: the newest, with the others merged into it. If `merge` is null,
     * takes over only the newest draft, and `hasOthers` stays true for the others.
     */
    claim(date: Day, merge: MergeModule['mergeLogs'] | null): DayDraft | null {
      const stored = keysUnder(storage, prefix + date).map((key) => ({ key, draft: parse(read(storage, key)) }));
      const newestFirst = stored.sort((a, b) => (b.draft?.at ?? 0) - (a.draft?.at ?? 0));
      const claimed = merge ? newestFirst : newestFirst.slice(0, 1);
      const [newest, ...others] = claimed.flatMap(({ draft }) => draft ?? []);
      if (!newest) return null;
      const sent = [newest, ...others].flatMap((draft) => draft.sent);
      const html = others.reduce(
        (merged, older) => mergeDrafts(merge, { ...newest, html: merged }, older),
        newest.html,
      );
      const found = { ...newest, html, sent: [...new Set(sent)] };
      if (this.store(date, found)) for (const { key } of claimed) if (key !== ownKey(date)) storage.removeItem(key);
      return found;
    },

    /** True if another page has left a draft of this day, or is writing one. */
    hasOthers: (date: Day): boolean => keysUnder(storage, prefix + date).some((key) => key !== ownKey(date)),

    /** Call once the server has the text. Another tab's draft of the same day stays. */
    drop(date: Day): void {
      if (read(storage, ownKey(date)) !== null) storage.removeItem(ownKey(date));
    },

    /** The days for which this user has a draft. */
    days(): Day[] {
      return daysOfDrafts(keysUnder(storage, prefix));
    },

    /** Ignores later writes: after the sign-out a late timer must not store the text again. */
    close: () => void (closed = true),
  };
}

/**
 * Merges the texts of two drafts of a day. Lines that one of them deleted stay deleted if both have the same base. If
 * `merge` is null, appends one text to the other: repeated lines are better than lost ones.
 */
export function mergeDrafts(
  merge: MergeModule['mergeLogs'] | null,
  newest: Pick<DayDraft, 'html' | 'base'>,
  older: Pick<DayDraft, 'html' | 'base'>,
): string {
  if (!merge) return newest.html + older.html;
  const base = newest.base === older.base ? newest.base : undefined;
  return merge(base ?? '', newest.html, older.html).html;
}

/** The draft keys of other users, who used this browser earlier and did not sign out. */
export const draftsOfOthers = (storage: Storage, userId: string): string[] =>
  keysUnder(storage, PREFIX).filter((key) => !key.startsWith(`${PREFIX}${userId}:`));

/** The days of these drafts, without duplicates. */
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

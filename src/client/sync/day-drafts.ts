/**
 * The outbox: text of many days that the server has not acknowledged yet. It survives crashes, closed tabs and dead
 * connections, and is dropped once the server has it. Each draft is first stored synchronously in localStorage, then in
 * IndexedDB, which has room for all days. The key in localStorage then keeps an empty value, the marker of the draft.
 * Without IndexedDB the text stays in localStorage. Keys contain the user id, so the page never shows a user the drafts
 * of another user of this browser. `recover` in day-savers.ts sends the drafts of closed tabs.
 */
import { isDay, type Day } from '#domain/day/day.ts';
import {
  DOCUMENT_DRAFT_PREFIX,
  DRAFT_PREFIX,
  keysUnder,
  SHARED_TEXTS_PREFIX,
} from '#client/lib/session/storage-keys.ts';
import type { MergeModule } from './merge-loader.ts';

/** Text is in a draft after this time at the latest. Storing one at every key would slow down typing in a long log. */
export const DRAFT_INTERVAL_MS = 100;

/** The value in localStorage of a draft whose text is in IndexedDB. */
export const MARKER = '';
/** Limits how long a browser that does not open its database delays the journal, and the takeover of drafts by all tabs. */
const LOAD_LIMIT_MS = 1_500;

/** The draft of a day by one page. `writer` identifies the page. */
export type OutboxDraft = { date: Day; writer: string; draft: DayDraft };

/** The drafts of one user in IndexedDB. */
export type Outbox = {
  readAll: () => Promise<OutboxDraft[]>;
  /** Changes of one draft take effect in the order of the calls. */
  put: (draft: OutboxDraft) => Promise<unknown>;
  remove: (date: Day, writer: string) => Promise<unknown>;
  close: () => void;
  /** The writers whose page is open. An open page sends its drafts itself. */
  aliveWriters: () => Promise<ReadonlySet<string>>;
};

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
  /** Texts that were sent but not answered: the server may have stored any of them. */
  sent?: readonly string[] | undefined;
};

export type DayDrafts = ReturnType<typeof createDayDrafts>;

/** Null if the database cannot be read or does not answer within `LOAD_LIMIT_MS`. */
export function readDrafts(outbox: Pick<Outbox, 'readAll'>): Promise<OutboxDraft[] | null> {
  const limit = new Promise<null>((resolve) => setTimeout(resolve, LOAD_LIMIT_MS, null));
  return Promise.race([outbox.readAll().catch(() => null), limit]);
}

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
export function createDayDrafts(storage: Storage, userId: string, writer: string, outbox: Outbox | null = null) {
  const prefix = `${DRAFT_PREFIX}${userId}:`;
  const keyOf = (date: Day, draftWriter: string): string => `${prefix}${date}:${draftWriter}`;
  const ownKey = (date: Day): string => keyOf(date, writer);
  /** The drafts in the outbox, by their key in localStorage. */
  const loaded = new Map<string, DayDraft>();
  /** Claimed drafts that stay until the server has their text, because the browser did not store the merged draft. */
  const claimedKeys = new Map<Day, string[]>();
  /** The writers whose page was open at the last `load`, or has stored a draft since then. */
  let alive: ReadonlySet<string> = new Set();
  let isClosed = false;

  const isOwn = (key: string): boolean => parseKey(key).writer === writer;
  const isClaimable = (key: string): boolean => isOwn(key) || !alive.has(parseKey(key).writer);
  const keysOf = (start: string): string[] => [
    ...new Set([...keysUnder(storage, start), ...[...loaded.keys()].filter((key) => key.startsWith(start))]),
  ];

  /** The newer draft of localStorage and IndexedDB: a page may have ended before its last text was in IndexedDB. */
  function newestAt(key: string): ReturnType<typeof parse> {
    const [inStorage, inOutbox] = [parse(read(storage, key)), loaded.get(key)];
    const isStorageNewer = inStorage !== null && (!inOutbox || inStorage.at >= inOutbox.at);
    return isStorageNewer ? inStorage : inOutbox ? { ...inOutbox, sent: inOutbox.sent ?? [] } : null;
  }

  function remove(key: string): void {
    const { date, writer: draftWriter } = parseKey(key);
    if (read(storage, key) !== null) storage.removeItem(key);
    loaded.delete(key);
    // Best effort: if the deletion fails, the next page reads the draft and finds that the server has its text.
    if (outbox && !isClosed) outbox.remove(date as Day, draftWriter).catch(() => {});
  }

  return {
    /**
     * Loads the drafts of all other pages from IndexedDB: `claim` and `days` need them. Never rejects, and resolves
     * after `LOAD_LIMIT_MS` even if the browser does not answer.
     */
    async load(): Promise<void> {
      if (!outbox || isClosed) return;
      const [writers, found] = await Promise.all([outbox.aliveWriters(), readDrafts(outbox)]);
      if (isClosed) return;
      alive = writers;
      if (!found) return;
      for (const key of loaded.keys()) if (!isOwn(key)) loaded.delete(key);
      for (const { date, writer: draftWriter, draft } of found)
        if (draftWriter !== writer) loaded.set(keyOf(date, draftWriter), draft);
    },

    /**
     * False if the browser rejects the draft: storage is full or disabled. A promise if only IndexedDB may have room.
     */
    store(date: Day, { at, ...text }: DayDraft): boolean | Promise<boolean> {
      if (isClosed) return true;
      const key = ownKey(date);
      // After the clock was set back, the draft still counts as newer than the one that it replaces.
      const draft = { ...text, at: Math.max(at, (loaded.get(key)?.at ?? -Infinity) + 1) };
      const json = JSON.stringify(draft);
      const isStored = write(storage, key, json);
      if (!outbox) return isStored;
      loaded.set(key, draft);
      const isInOutbox = outbox.put({ date, writer, draft }).then(
        () => {
          // Frees the space in localStorage, unless the page has stored a newer draft or dropped this one meanwhile.
          if (read(storage, key) === json) write(storage, key, MARKER);
          return true;
        },
        () => false,
      );
      return isStored || isInOutbox;
    },

    /**
     * Takes over the drafts for this day that closed pages left: the newest, with the others merged into it. With
     * `evenOpen`, takes over the drafts of open pages too. If `merge` is null, takes over only the newest draft; then
     * `hasOthers()` still returns true if there are more.
     */
    claim(date: Day, merge: MergeModule['mergeLogs'] | null, evenOpen = false): DayDraft | null {
      const stored = keysOf(prefix + date)
        .filter((key) => evenOpen || isClaimable(key))
        .flatMap((key) => {
          // Null for a draft in IndexedDB that was not read in time. It stays for a later claim.
          const draft = newestAt(key);
          return draft ? { key, draft } : [];
        });
      const newestFirst = stored.sort((a, b) => b.draft.at - a.draft.at);
      const claimed = merge ? newestFirst : newestFirst.slice(0, 1);
      const [newest, ...others] = claimed.map(({ draft }) => draft);
      if (!newest) return null;
      // The newest last: the saver forgets the first ones if there are too many (`MAX_UNACKNOWLEDGED`).
      const sent = claimed.toReversed().flatMap(({ draft }) => draft.sent);
      const html = others.reduce(
        (merged, older) => mergeDrafts(merge, { ...newest, html: merged }, older),
        newest.html,
      );
      const base = others.reduce((common, older) => commonBase(common, older.base), newest.base);
      const found = { ...newest, html, base, sent: [...new Set(sent)] };
      const removeOthers = (isStored: boolean): void => {
        const otherKeys = claimed.map(({ key }) => key).filter((key) => key !== ownKey(date));
        if (isStored) otherKeys.forEach(remove);
        else claimedKeys.set(date, otherKeys);
      };
      const isStored = this.store(date, found);
      if (typeof isStored === 'boolean') removeOthers(isStored);
      else void isStored.then(removeOthers);
      return found;
    },

    /** True if a closed page has left a draft of this day. With `evenOpen`, drafts of other open pages count too. */
    hasOthers: (date: Day, evenOpen = false): boolean =>
      keysOf(prefix + date).some((key) => key !== ownKey(date) && (evenOpen || isClaimable(key))),

    /** Call once the server has the text. Another tab's draft of the same day stays. */
    drop(date: Day): void {
      if (read(storage, ownKey(date)) !== null || loaded.has(ownKey(date))) remove(ownKey(date));
      claimedKeys.get(date)?.forEach(remove);
      claimedKeys.delete(date);
    },

    /** The days with a draft of any page of this user, open or closed. */
    days(): Day[] {
      return daysOfDrafts(keysOf(prefix));
    },

    /** The days for which a closed page has left a draft. */
    abandonedDays(): Day[] {
      return daysOfDrafts(keysOf(prefix).filter((key) => isClaimable(key) && !isOwn(key)));
    },

    /**
     * Another tab has stored a draft under this key of localStorage, so its page lives. Returns its writer; null for
     * any other key.
     */
    noteWriter(key: string): string | null {
      const { writer: draftWriter } = parseKey(key);
      if (!key.startsWith(prefix) || draftWriter === writer) return null;
      alive = new Set(alive).add(draftWriter);
      return draftWriter;
    },

    /** The writers of the drafts of all other pages, open or closed. */
    otherWriters: (): string[] => [
      ...new Set(keysOf(prefix).flatMap((key) => (isOwn(key) ? [] : parseKey(key).writer))),
    ],

    /** Ignores later writes: after the sign-out a late timer must not store the text again. */
    close(): void {
      isClosed = true;
      outbox?.close();
    },
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
  return merge(commonBase(newest.base, older.base) ?? '', newest.html, older.html).html;
}

/**
 * The base of two merged texts. If their bases differ, an empty one: a line of one base may have been typed again by
 * the page that had the other base, and must not count as deleted elsewhere. An unknown `base` stays unknown.
 */
export const commonBase = (base: string | undefined, other: string | undefined): string | undefined =>
  base === other || base === undefined ? base : '';

/**
 * The keys of unsent text of other users who used this browser and did not sign out: drafts of logs and of wins
 * documents, and texts that other apps shared.
 */
export const draftsOfOthers = (storage: Storage, userId: string): string[] =>
  [DRAFT_PREFIX, DOCUMENT_DRAFT_PREFIX, SHARED_TEXTS_PREFIX]
    .flatMap((prefix) => keysUnder(storage, prefix))
    .filter((key) => !['', userId].includes(userOfDraft(key)));

/** For a wins document's draft, `date` is the document's id. */
export function parseKey(key: string): { userId: string; date: string; writer: string } {
  const [, , userId = '', date = '', writer = ''] = key.split(':');
  return { userId, date, writer };
}

/** Also takes the key of a shared text: empty if nobody was signed in. */
export const userOfDraft = (key: string): string => parseKey(key).userId;

/** The days of the drafts with these keys, the oldest first. Omits keys without a valid date. */
export const daysOfDrafts = (keys: readonly string[]): Day[] =>
  [...new Set(keys.map((key) => parseKey(key).date))].filter(isDay).sort();

/** The ids of the wins documents of the drafts with these keys. */
export const documentsOfDrafts = (keys: readonly string[]): string[] => [
  ...new Set(keys.filter((key) => key.startsWith(DOCUMENT_DRAFT_PREFIX)).map((key) => parseKey(key).date)),
];

function write(storage: Storage, key: string, value: string): boolean {
  try {
    storage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

function read(storage: Storage, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
}

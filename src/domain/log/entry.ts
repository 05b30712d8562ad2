import type { ApiRow } from '../database-rows.ts';

/** The largest log that the server accepts, in UTF-8 bytes of HTML (docs/specification/limits.md 1). */
export const ENTRY_MAX_BYTES = 256 * 1024;

/**
 * The maximum size of all that a user stores, such as logs, feedback, earlier versions and documents. 20 years of 10 KB
 * a day are 75 MB.
 */
export const STORED_MAX_BYTES = 256 * 1024 * 1024;
/** The error code of a write that `STORED_MAX_BYTES` refuses. */
export const STORAGE_FULL_CODE = '53100';
/** The error code of a write of a user who has written too many bytes within a minute. */
export const WRITE_LIMIT_CODE = '53400';

/** Maximum UTF-16 length of the line typed on the landing page, which becomes the first item of the first log. */
export const FIRST_LINE_MAX_LENGTH = 500;

/** The debounce of a save. */
export const AUTO_SAVE_DELAY_MS = 2_000;
/** The debounce's maximum wait: unsaved text is sent after this time even while the user keeps typing. */
export const AUTO_SAVE_MAX_WAIT_MS = 10_000;
export const QUICK_SAVE_DELAY_MS = 500;
export const UNDO_DEPTH = 100;
export const UNDO_GROUP_DELAY_MS = 500;

/**
 * A log: one user's text for one day. `content` is HTML: the date header first, then the log (`entry-html.ts`). The
 * database makes `content_text`, the log as plain text, and raises `revision` with every change of `content` or `date`;
 * a save names the revision it is based on.
 */
export type Entry = ApiRow<'entries'>;

/**
 * The optimistic lock of a write. The revision alone is not enough: a day that was deleted and created again restarts
 * at revision 1, but has a new id.
 */
export type Version = Pick<Entry, 'id' | 'revision'>;

export type Profile = ApiRow<'profiles'>;

/**
 * How long an earlier version, or the text of a deleted log, is kept (docs/specification/days-and-saving.md 12). In
 * database/schema.sql, `thin_versions` repeats the number of versions, and `follow_entry` their interval.
 */
export const VERSION_DAYS = 30;
export const MAX_VERSIONS_PER_DAY = 20;
/** Edits keep at most one version in this time; an edit that drops more than half of the lines always keeps one. */
export const VERSION_INTERVAL_MINUTES = 10;

/**
 * The text that stood before a change: HTML without the date header. `written_at`: when it was saved. `kept_at`: when
 * it was replaced.
 */
export type EntryVersion = ApiRow<'entry_versions'>;

/** A day whose log was deleted and that has no log now, with the first 200 characters of the text. */
export type DeletedDay = ApiRow<'deleted_days'>;

/**
 * Earlier versions of a log (docs/specification/days-and-saving.md 12). The trigger function `follow_entry`
 * (database/schema.sql) repeats the limits.
 */
import type { ApiRow } from '../database-rows.ts';

/** How long an earlier version, or the text of a deleted log, is kept. */
export const VERSION_DAYS = 30;
export const MAX_VERSIONS_PER_DAY = 20;
/** Edits keep at most one version in this time; an edit that drops more than half of the lines always keeps one. */
export const VERSION_INTERVAL_MINUTES = 10;

/**
 * The text that stood before a change: HTML without the date header. `written_at`: when it was saved, `kept_at`:
 * replaced.
 */
export type EntryVersion = ApiRow<'entry_versions'>;

/** A day whose log was deleted and that has no log now, with the first 200 characters of the text. */
export type DeletedDay = ApiRow<'deleted_days'>;

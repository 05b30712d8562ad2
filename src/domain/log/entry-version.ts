/**
 * Earlier versions of a log (docs/specification/days-and-saving.md 12). The trigger function `follow_entry`
 * (database/schema.sql) repeats the limits.
 */
import type { Day } from '../day/day.ts';

/** How long an earlier version, or the text of a deleted log, is kept. */
export const VERSION_DAYS = 30;
export const MAX_VERSIONS_PER_DAY = 20;
/** Edits keep at most one version in this time; an edit that drops more than half of the lines always keeps one. */
export const VERSION_INTERVAL_MINUTES = 10;

/** A row of `entry_versions`: the text that stood before a change. */
export type EntryVersion = {
  user_id: string;
  date: Day;
  id: string;
  entry_id: string;
  /** HTML without the date header. */
  content: string;
  /** When the text was saved, and when it was replaced. */
  written_at: string;
  kept_at: string;
  replaced_by: 'edit' | 'drop' | 'restore' | 'deletion';
};

/** A row of `deleted_days`: a day whose log was deleted and that has no log now. */
export type DeletedDay = {
  user_id: string;
  date: Day;
  version_id: string;
  deleted_at: string;
  /** The first 200 characters of the text. */
  excerpt: string;
};

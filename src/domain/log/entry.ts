/** A log: what one person wrote for one day. Names are the columns of the `entries` table, as the wire carries them. */
import type { Day } from '../day/day.ts';

/** The largest log the server takes, in UTF-8 bytes of HTML (docs/specification/days-and-saving.md 4). */
export const ENTRY_MAX_BYTES = 256 * 1024;

/** The line on the landing page that becomes the first item of the first log, in UTF-16 units. */
export const FIRST_LINE_MAX_LENGTH = 500;

export const AUTO_SAVE_DELAY_MS = 2_000;
/** However long somebody types without a pause, the first unsaved word leaves after this long. */
export const AUTO_SAVE_LIMIT_MS = 10_000;
export const QUICK_SAVE_DELAY_MS = 500;
export const UNDO_DEPTH = 100;
export const UNDO_GROUP_DELAY_MS = 500;

export type Entry = {
  id: string;
  user_id: string;
  date: Day;
  /** HTML: the date header first, then the log (`entry-html.ts`). */
  content: string;
  /** The same log as plain text, kept by the database. */
  content_text: string;
  /** Raised by the database with every change of the words; a save says which one it builds on. */
  revision: number;
  created_at: string;
  updated_at: string;
  ai_feedback: string | null;
  hustle_score: number | null;
  ai_analyzed_at: string | null;
};

/**
 * What a write builds on. The revision alone is not enough: a day that was deleted and begun anew counts from one again,
 * but it is another row.
 */
export type Version = Pick<Entry, 'id' | 'revision'>;

export type Profile = {
  id: string;
  country: string | null;
  subscription_plan: 'free' | 'premium';
  access_valid_until: Day | null;
  ai_consent: boolean;
  created_at: string;
  updated_at: string;
};

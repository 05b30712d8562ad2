/**
 * The settings of an account, which apply on every device (docs/specification/habit.md 1). Settings of one browser,
 * such as the theme, are in `client/lib/session/browser-preferences.ts`.
 */
import { DEFAULT_WORKDAYS } from '../day/time-off.ts';
import type { ApiRow } from '../database-rows.ts';

export type Preferences = Omit<ApiRow<'preferences'>, 'user_id'>;

/** For a user without a row: the first change inserts it. */
export const DEFAULT_PREFERENCES: Preferences = {
  time_zone: null,
  workdays: [...DEFAULT_WORKDAYS],
  remind_at: null,
  remind_by_mail: false,
  remind_by_push: false,
  digest: false,
  digest_review: false,
  day_ends_at: 0,
  prompts: false,
};

/** Minutes after midnight. The constraint `preferences_remind_by_day` has the same limits. */
export const EARLIEST_REMINDER = 6 * 60;
export const LATEST_REMINDER = 23 * 60;

/** True for a zone that this runtime knows. A browser may know zones that the server does not know yet. */
export function isTimeZone(name: string): boolean {
  // The constraint `preferences_time_zone_name` has the same pattern.
  if (!/^[A-Za-z0-9+_/-]{1,64}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * Reads preferences that this browser stored earlier, maybe by an older version of the product: each field that is
 * missing or has another type keeps its default.
 */
export function parsePreferences(value: unknown): Preferences {
  const stored: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {};
  const bool = (name: keyof Preferences): boolean => stored[name] === true;
  const { time_zone: zone, workdays, remind_at: remindAt, day_ends_at: dayEndsAt } = stored;
  return {
    time_zone: typeof zone === 'string' && isTimeZone(zone) ? zone : null,
    workdays: Array.isArray(workdays) && workdays.every(isWeekday) ? workdays : DEFAULT_PREFERENCES.workdays,
    remind_at: isReminderTime(remindAt) ? remindAt : null,
    remind_by_mail: bool('remind_by_mail'),
    remind_by_push: bool('remind_by_push'),
    digest: bool('digest'),
    digest_review: bool('digest_review'),
    day_ends_at: dayEndsAt === 3 ? 3 : 0,
    prompts: bool('prompts'),
  };
}

const isWeekday = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 6;

const isReminderTime = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= EARLIEST_REMINDER && Number(value) <= LATEST_REMINDER;

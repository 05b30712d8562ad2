/** How a past day is spoken of: the question on an empty page, and how far back the day lies. */
import { dateLabel, daysBetween, MONTHS, weekdayOf } from './day.ts';
import type { Day } from './day.ts';

/** Farther back, a weekday alone would name the wrong week. */
const WEEKDAY_NAMES_DAYS = 6;

/** What an empty log asks. */
export function dayQuestion(date: Day, today: Day): string {
  const days = daysBetween(date, today);
  if (days <= 0) return 'What have you done today?';
  if (days === 1) return 'What did you do yesterday?';
  if (days <= WEEKDAY_NAMES_DAYS) return `What did you do on ${weekdayOf(date)}?`;
  const isThisYear = date.slice(0, 4) === today.slice(0, 4);
  const dayOfYear = isThisYear ? `${MONTHS[Number(date.slice(5, 7)) - 1]} ${Number(date.slice(8))}` : dateLabel(date);
  return `What did you do on ${weekdayOf(date)}, ${dayOfYear}?`;
}

/** `Yesterday`, `3 days ago`. For days before today. */
export function daysAgoLabel(date: Day, today: Day): string {
  const days = daysBetween(date, today);
  return days === 1 ? 'Yesterday' : `${days.toLocaleString('en')} days ago`;
}

import { dateLabel, daysBetween, MONTHS, weekdayOf, type Day } from './day.ts';

/** A weekday alone is ambiguous for days further back. */
const MAX_DAYS_BY_WEEKDAY = 6;

/** The placeholder of an empty log. */
export function dayQuestion(date: Day, today: Day): string {
  const days = daysBetween(date, today);
  if (days <= 0) return 'What have you done today?';
  if (days === 1) return 'What did you do yesterday?';
  if (days <= MAX_DAYS_BY_WEEKDAY) return `What did you do on ${weekdayOf(date)}?`;
  const isThisYear = date.slice(0, 4) === today.slice(0, 4);
  const dayOfYear = isThisYear ? `${MONTHS[Number(date.slice(5, 7)) - 1]} ${Number(date.slice(8))}` : dateLabel(date);
  return `What did you do on ${weekdayOf(date)}, ${dayOfYear}?`;
}

/** `Yesterday`, `3 days ago`; `Tomorrow` and `In 2 days` for a later day that has a log. `date` must not be `today`. */
export function relativeDayLabel(date: Day, today: Day): string {
  const days = daysBetween(date, today);
  if (days < 0) return days === -1 ? 'Tomorrow' : `In ${(-days).toLocaleString('en')} days`;
  return days === 1 ? 'Yesterday' : `${days.toLocaleString('en')} days ago`;
}

/** Names a past moment with its time, in the machine's time zone (in the browser: the user's). */
import { clockTime } from '#domain/day/clock-time.ts';
import { dateLabel, dayOf, daysBetween } from '#domain/day/day.ts';

/** `today at 14:02`, `yesterday at 14:02`, `November 3, 2026 at 14:02`; with seconds `today at 14:02:09`. */
export function momentLabel(then: Date, now: Date, hasSeconds = false): string {
  const date = dayOf(then);
  const days = daysBetween(date, dayOf(now));
  const label = days <= 0 ? 'today' : days === 1 ? 'yesterday' : dateLabel(date);
  return `${label} at ${clockTime(then, hasSeconds)}`;
}

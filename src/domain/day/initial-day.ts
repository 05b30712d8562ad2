import { addDays, earlierOf, type Day } from './day.ts';

/**
 * The day that the journal opens on (docs/specification/days-and-saving.md 3): today, or for premium the day after the
 * latest log, at most today.
 */
export function initialDay(premium: boolean, latestLog: Day | null, today: Day): Day {
  return premium && latestLog !== null ? earlierOf(addDays(latestLog, 1), today) : today;
}

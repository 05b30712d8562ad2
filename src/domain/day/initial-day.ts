/** Which day the journal opens on (docs/specification/days-and-saving.md 3): today; for a Closer the day after the latest log, capped at today. */
import { addDays, earlierOf } from './day.ts';
import type { Day } from './day.ts';

export function initialDay(premium: boolean, latestLog: Day | null, today: Day): Day {
  return premium && latestLog !== null ? earlierOf(addDays(latestLog, 1), today) : today;
}

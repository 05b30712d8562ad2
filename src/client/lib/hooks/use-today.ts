/** The day on the user's wall: a tab open past midnight must not stay in yesterday. */
import { dayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { useClock } from './use-clock.ts';

export const useToday = (): Day => useClock(() => dayOf(new Date()));

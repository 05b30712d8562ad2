/** The user's current day. It changes at midnight while the tab is open. */
import { dayOf, type Day } from '#domain/day/day.ts';
import { useClock } from './use-clock.ts';

export const useToday = (): Day => useClock(() => dayOf(new Date()));

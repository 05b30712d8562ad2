/** The data of the reviews screen: the days with a log and their scores, and the logs of a period. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { earlierOf, type Day } from '#domain/day/day.ts';
import type { DayRange } from '#domain/plan/review-period.ts';
import { yearRows } from '#domain/year.ts';
import { chosenWeekStart } from '#client/lib/session/browser-preferences.ts';
import { useData, type DataClient } from '#client/lib/api/data-client.ts';
import { ENTRY_CACHE_KEY } from '#client/sync/entries/entry-queries.ts';
import { useUser } from '#client/lib/session/session.ts';

/** Another tab or device may have changed a log, so refetch on every mount. */
const ALWAYS_REFETCH = { staleTime: 0, networkMode: 'always' } as const;

export type LoggedDay = { date: Day; score: number | null };

/** One query serves the entry counts, the plot of the scores and the map of the year. */
const loggedDaysQuery = (data: DataClient, userId: string, today: Day, from: Day) =>
  queryOptions({
    queryKey: [...ENTRY_CACHE_KEY, 'scores', today, from],
    queryFn: async ({ signal }): Promise<LoggedDay[]> => {
      const { data: rows } = await data
        .from('entries')
        .select('date, hustle_score')
        .eq('user_id', userId)
        .gte('date', from)
        .lte('date', today)
        .order('date')
        .abortSignal(signal)
        .throwOnError();
      return rows.map(({ date, hustle_score: score }) => ({ date, score }));
    },
    placeholderData: keepPreviousData,
    ...ALWAYS_REFETCH,
  });

/** The days with a log of the last twelve months, and all from `from` on if that is earlier. Oldest first. */
export const useLoggedDays = (today: Day, from: Day) =>
  useQuery(
    loggedDaysQuery(useData(), useUser().id, today, earlierOf(from, yearRows(today, chosenWeekStart())[0]![0]!)),
  );

/** The logs of a period, for their first lines. */
export function usePeriodLogs({ from, to }: DayRange) {
  const data = useData();
  const { id } = useUser();
  return useQuery({
    queryKey: [...ENTRY_CACHE_KEY, 'logs', from, to],
    queryFn: async ({ signal }): Promise<{ date: Day; html: string }[]> => {
      const { data: rows } = await data
        .from('entries')
        .select('date, content')
        .eq('user_id', id)
        .gte('date', from)
        .lte('date', to)
        .abortSignal(signal)
        .throwOnError();
      return rows.map(({ date, content: html }) => ({ date, html }));
    },
    ...ALWAYS_REFETCH,
  });
}

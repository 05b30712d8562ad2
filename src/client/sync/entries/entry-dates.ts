/** The dates of all of the user's logs. They include locked days, of which the server returns the date but no text. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';

export const DATES_KEY = ['entry-dates'] as const;

/** Newest first. */
const datesQuery = (data: DataClient, userId: string) =>
  queryOptions({
    queryKey: DATES_KEY,
    queryFn: async (): Promise<Day[]> => {
      const answer = await data
        .from('entry_dates')
        .select('date')
        .eq('user_id', userId)
        .order('date', { ascending: false })
        .throwOnError();
      return answer.data.map((row) => row.date);
    },
    networkMode: 'always',
    // The journal opens without the dates (docs/specification/messages.md 5), so don't delay it by a retry.
    retry: false,
  });

/** Adds or removes a date without a request. */
export function setDateStored(queries: QueryClient, date: Day, isStored: boolean): void {
  queries.setQueryData<Day[]>(DATES_KEY, (dates) => {
    if (!dates || dates.includes(date) === isStored) return dates;
    return isStored ? [...dates, date].sort().reverse() : dates.filter((other) => other !== date);
  });
}

/** `data` is undefined until the dates are loaded: a day without a dot may then still have a log. */
export const useEntryDates = () => useQuery(datesQuery(useData(), useUser().id));

/** The dates of all of the user's own logs, those of locked days too: the server gives the dates, never the words. */
import { queryOptions, useQuery } from '@tanstack/react-query';
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
    // The journal opens without them (docs/specification/messages.md 5), so it must not wait for a second failure.
    retry: false,
  });

/** `data` is undefined while nobody knows: nothing may then be said of a day without a dot. */
export const useEntryDates = () => useQuery(datesQuery(useData(), useUser().id));

/** The dates of all of the user's logs. They include locked days, of which the server returns the date but no text. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { isDay, type Day } from '#domain/day/day.ts';
import { useData, type DataClient } from '#client/lib/api/data-client.ts';
import { readLoggedDates } from '#client/lib/api/first-reads.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useLocalCopies } from '../day-savers-provider.tsx';
import type { LocalCopies } from '../store/local-copies.ts';
import { DATES_KEY } from './entry-queries.ts';

/** Newest first. Until the server answers, `data` is the copy in IndexedDB, and `dataUpdatedAt` the time of the copy. */
const datesQuery = (data: DataClient, userId: string, copies: LocalCopies | null) =>
  queryOptions({
    queryKey: DATES_KEY,
    queryFn: async ({ client }): Promise<Day[]> => {
      const copyShown = copies?.readCopy(DATES_KEY[0]).then((copy) => {
        if (!Array.isArray(copy?.value) || client.getQueryData(DATES_KEY)) return;
        client.setQueryData<Day[]>(DATES_KEY, copy.value.filter(isDay), { updatedAt: copy.at });
      });
      const answer = await readLoggedDates(data, userId);
      if (answer.error) {
        // Setting the copy as data after the error would turn the failed query into a successful one.
        await copyShown;
        throw answer.error;
      }
      const dates = answer.data.map((row) => row.date);
      void copies?.storeCopy(DATES_KEY[0], dates);
      return dates;
    },
    networkMode: 'always',
  });

/** `data` is undefined until the dates are loaded: the calendar then shows no dots, even for days with a log. */
export const useEntryDates = () => useQuery(datesQuery(useData(), useUser().id, useLocalCopies()));

/** The user's time off (docs/specification/time-off.md 2): ranges of days, newest first. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { TimeOff } from '#domain/day/time-off.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';

export type TimeOffRange = TimeOff & { id: string };

const QUERY_KEY = ['time-off'] as const;
const NONE: readonly TimeOffRange[] = [];

export type TimeOffState = {
  ranges: readonly TimeOffRange[];
  /** False until the server has answered. `ranges` is empty until then. */
  isRead: boolean;
  isFailed: boolean;
  refetch: () => void;
  /** Resolves with false on failure. The server merges the range with those that it overlaps or touches. */
  add: (first: Day, last: Day) => Promise<boolean>;
  /** Resolves with false on failure. */
  remove: (id: string) => Promise<boolean>;
};

export function useTimeOff(): TimeOffState {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const {
    data: ranges,
    isError,
    refetch,
  } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: async ({ signal }): Promise<TimeOffRange[]> => {
      const { data: rows } = await data
        .from('time_off')
        .select('id, first_day, last_day')
        .eq('user_id', userId)
        .order('first_day', { ascending: false })
        .abortSignal(signal)
        .throwOnError();
      return rows;
    },
    networkMode: 'always',
  });

  const finish = async (error: unknown): Promise<boolean> => {
    await queries.invalidateQueries({ queryKey: QUERY_KEY });
    return !error;
  };
  return {
    ranges: ranges ?? NONE,
    isRead: ranges !== undefined,
    isFailed: isError,
    refetch: () => void refetch(),
    add: async (first_day, last_day) => {
      const row = { user_id: userId, id: crypto.randomUUID(), first_day, last_day };
      return finish((await data.from('time_off').insert(row)).error);
    },
    remove: async (id) => finish((await data.from('time_off').delete().eq('user_id', userId).eq('id', id)).error),
  };
}

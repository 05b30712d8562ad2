/** Reads earlier versions and deleted days. The browser stores neither. */
import { queryOptions } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { DeletedDay, EntryVersion } from '#domain/log/entry.ts';
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import { createEntryFetch } from '#client/sync/entries/entry-transport.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './versions.module.css';

export type ListedVersion = Pick<EntryVersion, 'id' | 'written_at' | 'kept_at' | 'replaced_by'>;
export type ListedDay = Omit<DeletedDay, 'user_id'>;

/** Send the request even if the browser reports to be offline, so that a failed load shows an error. */
const ALWAYS = { networkMode: 'always', refetchOnWindowFocus: false } as const;

/** A day's versions, newest first. */
export const versionsQuery = (data: DataClient, userId: string, date: Day) =>
  queryOptions({
    ...ALWAYS,
    queryKey: ['entry-versions', date],
    // A save may have kept another version since the dialog was last open.
    staleTime: 0,
    queryFn: async ({ signal }): Promise<ListedVersion[]> => {
      const answer = await data
        .from('entry_versions', { fetch: createEntryFetch(userId) })
        .select('id, written_at, kept_at, replaced_by')
        .match({ user_id: userId, date })
        .order('kept_at', { ascending: false })
        .abortSignal(signal)
        .throwOnError();
      return answer.data;
    },
  });

/** The HTML of one version, without its date header. Null if it is no longer kept, or its day is locked. */
export async function readVersion(data: DataClient, userId: string, id: string): Promise<string | null> {
  const answer = await data
    .from('entry_versions', { fetch: createEntryFetch(userId) })
    .select('content')
    .match({ user_id: userId, id })
    .throwOnError();
  const [version] = answer.data;
  return version ? withoutDateHeader(version.content) : null;
}

export const versionQuery = (data: DataClient, userId: string, id: string) =>
  queryOptions({
    ...ALWAYS,
    queryKey: ['entry-version', id],
    // A version's text never changes. A move to another day changes only the date header, which `readVersion` removes.
    staleTime: Infinity,
    queryFn: () => readVersion(data, userId, id),
  });

/** The deleted days, the last deleted first. */
export const deletedDaysQuery = (data: DataClient, userId: string) =>
  queryOptions({
    ...ALWAYS,
    queryKey: ['deleted-days'],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<ListedDay[]> => {
      const answer = await data
        .from('deleted_days', { fetch: createEntryFetch(userId) })
        .select('date, version_id, deleted_at, excerpt')
        .eq('user_id', userId)
        .order('deleted_at', { ascending: false })
        .abortSignal(signal)
        .throwOnError();
      return answer.data;
    },
  });

type LoadProblemProps = { what: string; request: { refetch: () => Promise<unknown>; isFetching: boolean } };

/** Shown in place of versions that could not be loaded: the reason, and that no text is lost. */
export function LoadProblem({ what, request }: LoadProblemProps) {
  return (
    <div className={styles.problem}>
      <Notice kind="error">
        {navigator.onLine
          ? `Couldn't load ${what}. Nothing is lost.`
          : `You are offline. Nothing is lost, but ${what} can be read only with a connection.`}
        <Button onClick={() => void request.refetch()} busy={request.isFetching} busyLabel="Loading...">
          Try again
        </Button>
      </Notice>
    </div>
  );
}

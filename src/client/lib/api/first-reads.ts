/**
 * The requests that the boot script sends before the app's code has loaded, and the same requests of the app. One
 * definition for both: a prefetched response is found by its URL (lib/boot/prefetch.ts).
 */
import type { Day } from '#domain/day/day.ts';
import type { DataClient } from './data-client.ts';

export const LOG_COLUMNS = 'content, id, revision, updated_at';

export const readLog = (data: DataClient, userId: string, date: Day, options?: { fetch: typeof fetch }) =>
  data.from('entries', options).select(LOG_COLUMNS).eq('user_id', userId).eq('date', date);

export const readLoggedDates = (data: DataClient, userId: string) =>
  data.from('entry_dates').select('date').eq('user_id', userId).order('date', { ascending: false });

export const readProfile = (data: DataClient, userId: string) => data.from('profiles').select('*').eq('id', userId);

/**
 * Returns the URLs of requests, without the code of the data client, which sends them. Knows only the methods that the
 * requests above use (first-reads.test.ts compares it with the data client).
 */
export function urlsOf(apiUrl: string, requests: (data: DataClient) => unknown): string[] {
  const urls: URL[] = [];
  const builder = {
    from: (table: string) => (urls.push(new URL(`${apiUrl}/rest/v1/${table}`)), builder),
    select: (columns: string) => add('select', columns.replaceAll(/\s/g, '')),
    eq: (column: string, value: string) => add(column, `eq.${value}`),
    order: (column: string, { ascending }: { ascending: boolean }) =>
      add('order', `${column}.${ascending ? 'asc' : 'desc'}`),
  };
  const add = (name: string, value: string) => (urls.at(-1)!.searchParams.append(name, value), builder);
  requests(builder as unknown as DataClient);
  return urls.map(({ href }) => href);
}

/**
 * The client of /rest/v1, typed with the product's tables. Loads as a separate chunk, which the account screens do not
 * need.
 */
import { PostgrestClient } from '@supabase/postgrest-js';
import { createContext, use } from 'react';
import type { ApiRow } from '#domain/database-rows.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import type { Entry, Profile, DeletedDay, EntryVersion } from '#domain/log/entry.ts';
import { fetchPrefetched } from '../boot/prefetch.ts';
import type { Supabase } from './supabase.ts';

/** An attempt to buy a year of the premium plan, whatever its status. */
export type Payment = ApiRow<'payments'>;

/** A change of a user's plan. A paid year runs from `valid_from` to `access_valid_until`. */
export type PlanChange = ApiRow<'plan_changes'>;

type ReadOnly<Row> = { Row: Row; Insert: never; Update: never; Relationships: [] };

type Schema = {
  public: {
    Tables: {
      profiles: {
        Row: Profile;
        Insert: never;
        Update: Partial<Pick<Profile, 'country' | 'ai_consent'>>;
        Relationships: [];
      };
      entries: {
        Row: Entry;
        Insert: Pick<Entry, 'user_id' | 'id' | 'date' | 'content'>;
        Update: Partial<Pick<Entry, 'content' | 'date'>>;
        Relationships: [];
      };
      preferences: {
        Row: Preferences & { user_id: string };
        Insert: Partial<Preferences> & { user_id: string };
        Update: Partial<Preferences>;
        Relationships: [];
      };
      time_off: {
        Row: ApiRow<'time_off'>;
        Insert: Pick<ApiRow<'time_off'>, 'user_id' | 'id' | 'first_day' | 'last_day'>;
        Update: never;
        Relationships: [];
      };
      entry_dates: ReadOnly<ApiRow<'entry_dates'>>;
      entry_versions: ReadOnly<EntryVersion>;
      deleted_days: ReadOnly<DeletedDay>;
      payments: ReadOnly<Payment>;
      plan_changes: ReadOnly<PlanChange>;
      analyses: ReadOnly<ApiRow<'analyses'>>;
      reviews: ReadOnly<ApiRow<'reviews'>>;
      kept_reviews: ReadOnly<ApiRow<'kept_reviews'>>;
      documents: {
        Row: ApiRow<'documents'>;
        Insert: Pick<ApiRow<'documents'>, 'user_id' | 'id' | 'title' | 'first_day' | 'last_day' | 'content'>;
        Update: Partial<Pick<ApiRow<'documents'>, 'title' | 'first_day' | 'last_day' | 'content'>>;
        Relationships: [];
      };
      push_subscriptions: ReadOnly<ApiRow<'push_subscriptions'>>;
      document_links: ReadOnly<ApiRow<'document_links'>>;
    };
    Views: Record<string, never>;
    Functions: Record<string, never>;
  };
};
export type DataClient = PostgrestClient<Schema>;

/** The code of an answer with more texts than it may have. */
export const ANSWER_TOO_LONG = '54000';

/**
 * Its retries, which `retry(true)` turns on for a read, delay the error of a missing connection by fifteen seconds.
 * Queries and savers retry by themselves.
 */
export const createDataClient = (supabase: Supabase): DataClient =>
  new PostgrestClient<Schema>(`${supabase.apiUrl}/rest/v1`, {
    retry: false,
    fetch: fetchPrefetched,
    wrapFetch: (base) => supabase.withSession(base),
  });

export const DataContext = createContext<DataClient | null>(null);

/**
 * Returns the data client. A request that must outlive the page passes its own fetch:
 * `data.from('entries', { fetch: (url, init) => fetch(url, { ...init, keepalive: true }) })`.
 */
export function useData(): DataClient {
  const data = use(DataContext);
  if (!data) throw new Error('useData needs a DataContext above it');
  return data;
}

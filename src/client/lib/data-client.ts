/** The data wire, typed with the product's two tables. Loaded by the protected screens alone. */
import { PostgrestClient } from '@supabase/postgrest-js';
import { createContext, use } from 'react';
import type { Entry, Profile } from '#domain/entry.ts';
import { fetchOnce } from './early-answers.ts';
import type { Supabase } from './supabase.ts';

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
        Insert: Pick<Entry, 'user_id' | 'date' | 'content'>;
        Update: Partial<Pick<Entry, 'content'>>;
        Relationships: [];
      };
    };
    Views: Record<string, never>;
    Functions: Record<string, never>;
  };
};
export type DataClient = PostgrestClient<Schema>;

export const createDataClient = (supabase: Supabase): DataClient =>
  new PostgrestClient<Schema>(`${supabase.apiUrl}/rest/v1`, {
    fetch: fetchOnce,
    wrapFetch: (base) => supabase.withSession(base),
  });

export const DataContext = createContext<DataClient | null>(null);

/** The data client. For a save on the way out: `data.from('entries', { fetch: (url, init) => fetch(url, { ...init, keepalive: true }) })`. */
export function useData(): DataClient {
  const data = use(DataContext);
  if (!data) throw new Error('useData needs a DataContext above it');
  return data;
}

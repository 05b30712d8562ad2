/**
 * The client of /rest/v1, typed with the product's tables. Loads as a separate chunk, which the account screens do not
 * need.
 */
import { PostgrestClient } from '@supabase/postgrest-js';
import { createContext, use } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { Entry, Profile } from '#domain/log/entry.ts';
import type { DeletedDay, EntryVersion } from '#domain/log/entry-version.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanId } from '#domain/plan/plan.ts';
import { fetchPrefetched } from '../boot/prefetch.ts';
import type { Supabase } from './supabase.ts';

/** An attempt to buy a year of the premium plan, whatever its status. */
export type Payment = {
  id: string;
  user_id: string;
  order_id: string | null;
  amount_minor: number;
  currency: string;
  status: PaymentStatus;
  country: string | null;
  created_at: string;
  completed_at: string | null;
};

/** A change of a user's plan. A paid year runs from `valid_from` to `access_valid_until`. */
export type PlanChange = {
  user_id: string;
  plan: PlanId;
  access_valid_until: Day | null;
  reason: string;
  changed_at: string;
  payment_id: string | null;
  valid_from: Day | null;
};

/** A stored feedback on a day, or a stored review. */
type Analysis = {
  user_id: string;
  kind: 'feedback' | 'trend';
  date: Day | null;
  period_from: Day | null;
  period_to: Day | null;
  text: string;
  cited: number[];
  cited_refs: string[] | null;
  missing_fact: string | null;
  created_at: string;
};

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
      entry_dates: ReadOnly<Pick<Entry, 'user_id' | 'date'>>;
      entry_versions: ReadOnly<EntryVersion>;
      deleted_days: ReadOnly<DeletedDay>;
      payments: ReadOnly<Payment>;
      plan_changes: ReadOnly<PlanChange>;
      analyses: ReadOnly<Analysis>;
    };
    Views: Record<string, never>;
    Functions: Record<string, never>;
  };
};
export type DataClient = PostgrestClient<Schema>;

export const createDataClient = (supabase: Supabase): DataClient =>
  new PostgrestClient<Schema>(`${supabase.apiUrl}/rest/v1`, {
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

/** Queries for the user's own payments and plan changes, newest first. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useData, type DataClient } from '../api/data-client.ts';
import { useUser } from '../session/session.ts';

export const paymentsQuery = (data: DataClient, userId: string) =>
  queryOptions({
    queryKey: ['payments'],
    queryFn: async ({ signal }) => {
      const columns = 'id, order_id, amount_minor, currency, status, created_at, completed_at' as const;
      const { data: rows } = await data
        .from('payments')
        .select(columns)
        .eq('user_id', userId)
        .order('created_at', { ascending: false })
        .abortSignal(signal)
        .throwOnError();
      return rows;
    },
    networkMode: 'always',
  });

export const planChangesQuery = (data: DataClient, userId: string) =>
  queryOptions({
    queryKey: ['plan-changes'],
    queryFn: async ({ signal }) => {
      const columns = 'plan, access_valid_until, reason, changed_at, payment_id, valid_from' as const;
      const { data: rows } = await data
        .from('plan_changes')
        .select(columns)
        .eq('user_id', userId)
        .order('id', { ascending: false })
        .abortSignal(signal)
        .throwOnError();
      return rows;
    },
    networkMode: 'always',
  });

/**
 * Whether PayPal is still checking a payment of the user. A second payment would charge them twice.
 *
 * Sends a request, so use it only where the user can pay. False while unknown: a slow answer must not block a payment.
 */
export function usePaymentPending(): boolean {
  const { data } = useQuery(paymentsQuery(useData(), useUser().id));
  return data?.some(({ status }) => status === 'pending') ?? false;
}

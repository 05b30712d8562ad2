/** Whether PayPal is still checking a payment of the user. A second payment would charge them twice. */
import { useQuery } from '@tanstack/react-query';
import { useData } from '../api/data-client.ts';
import { paymentsQuery } from './payment-queries.ts';
import { useUser } from '../session/session.ts';

/**
 * Sends a request, so use it only where the user can pay. False while unknown: a slow answer must not block a payment.
 */
export function usePaymentPending(): boolean {
  const { data } = useQuery(paymentsQuery(useData(), useUser().id));
  return data?.some(({ status }) => status === 'pending') ?? false;
}

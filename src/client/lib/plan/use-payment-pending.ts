/** Whether PayPal is still checking a payment of the user's: whoever pays then pays twice. */
import { useQuery } from '@tanstack/react-query';
import { useData } from '../api/data-client.ts';
import { paymentsQuery } from './payment-queries.ts';
import { useUser } from '../session/session.ts';

/** Asked where somebody could pay, and not before. False while nobody knows: nobody is kept from paying by that. */
export function usePaymentPending(): boolean {
  const { data } = useQuery(paymentsQuery(useData(), useUser().id));
  return data?.some(({ status }) => status === 'pending') ?? false;
}

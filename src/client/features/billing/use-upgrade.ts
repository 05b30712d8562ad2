/** Starts a payment: the country first, then the order, then off to PayPal. */
import { MESSAGES } from '#domain/messages.ts';
import { PREMIUM_PRICE } from '#domain/plan.ts';
import { useData } from '#client/lib/data-client.ts';
import { useSession, useUser } from '#client/lib/session.ts';
import { useSupabase } from '#client/lib/supabase.ts';

/** Answers what to show in the dialog when no order came about; on success the browser has left for PayPal. */
export function useUpgrade(): (country: string) => Promise<string | null> {
  const data = useData();
  const { callFunction } = useSupabase();
  const { profile } = useSession();
  const user = useUser();

  return async (country) => {
    if (country !== '' && country !== profile?.country) {
      // An order is worth more than a remembered country: a failure here does not stop it.
      await data.from('profiles').update({ country }).eq('id', user.id);
    }
    const answer = await callFunction('paypal-create-order', {
      amount: Number(PREMIUM_PRICE.amount),
      currency: PREMIUM_PRICE.currency,
      user_id: user.id,
    });
    if (answer.success && typeof answer['approval_url'] === 'string') {
      location.assign(answer['approval_url']);
      return null;
    }
    return answer.error ?? MESSAGES.unknown;
  };
}

/** Starts a payment: the country first, then the order, then off to PayPal. */
import { MESSAGES, providerMessage } from '#domain/messages.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';

/** Answers what to show in the dialog when no order came about; on success the browser has left for PayPal. */
export function useUpgrade(): (country: string) => Promise<string | null> {
  const data = useData();
  const { callFunction } = useSupabase();
  const { profile, refreshProfile } = useSession();
  const user = useUser();

  return async (country) => {
    if (country !== profile?.country) {
      // The order takes its country from there, and what the law says about refunds goes by it.
      const { error, status } = await data.from('profiles').update({ country }).eq('id', user.id);
      if (error) return providerMessage({ code: error.code, message: error.message, status });
      void refreshProfile();
    }
    const order = { amount: Number(PREMIUM_PRICE.amount), currency: PREMIUM_PRICE.currency, user_id: user.id };
    const answer = await callFunction('paypal-create-order', order).catch(() => null);
    if (answer === null) return MESSAGES.unknown;
    if (answer.success && typeof answer['approval_url'] === 'string') {
      location.assign(answer['approval_url']);
      return null;
    }
    return answer.error ?? MESSAGES.unknown;
  };
}

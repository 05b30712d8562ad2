/** Starts a payment: saves the country, creates the order, redirects to PayPal. */
import { MESSAGES, providerMessage } from '#domain/messages.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { rememberPurchaseOrigin } from './purchase-origin.ts';

/** Returns the error to show, or null if the browser is redirecting to PayPal. */
export function useUpgrade(feature: UpgradeFeature): (country: string) => Promise<string | null> {
  const data = useData();
  const { callFunction } = useSupabase();
  const { profile, refreshProfile } = useSession();
  const user = useUser();

  return async (country) => {
    if (country !== profile?.country) {
      // The server reads the order's country from the profile; the country decides the refund rule.
      const { error, status } = await data.from('profiles').update({ country }).eq('id', user.id);
      if (error) return providerMessage({ code: error.code, message: error.message, status });
      void refreshProfile();
    }
    const order = { amount: Number(PREMIUM_PRICE.amount), currency: PREMIUM_PRICE.currency, user_id: user.id };
    const answer = await callFunction('paypal-create-order', order).catch(() => null);
    if (answer === null) return MESSAGES.unknown;
    if (answer.success && typeof answer['approval_url'] === 'string') {
      rememberPurchaseOrigin(feature);
      location.assign(answer['approval_url']);
      return null;
    }
    return answer.error ?? MESSAGES.unknown;
  };
}

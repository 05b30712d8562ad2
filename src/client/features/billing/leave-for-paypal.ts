/** Leaving for PayPal: remembers in this tab where the purchase began, because PayPal returns to the journal. */
import { useEffect, useState } from 'react';
import { isDay } from '#domain/day/day.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { ROUTES } from '#domain/routes.ts';
import { localToday } from '#client/lib/session/browser-preferences.ts';
import { useSession } from '#client/lib/session/session.ts';

const ORIGIN_KEY = 'hustle-forge:purchase-origin';

/** The value of `payment` in the URL of a journal that opens the feedback panel after a purchase. */
export const OPEN_FEEDBACK = 'feedback';

/** Best effort: without the storage the journal is shown after the payment. */
export function rememberPurchaseOrigin(feature: UpgradeFeature): void {
  const { pathname, search } = location;
  const date = new URLSearchParams(search).get('date');
  // The payment can end on another day, so the address names the day that the panel was open beside.
  const shown = isDay(date) ? date : localToday();
  const isFeedback = feature === 'ai-feedback' && pathname === ROUTES.journal.path;
  const path = isFeedback ? `${pathname}?date=${shown}&payment=${OPEN_FEEDBACK}` : pathname + search;
  try {
    sessionStorage.setItem(ORIGIN_KEY, path);
  } catch {
    // The storage is full or blocked.
  }
}

/** Returns the stored path and removes it; null if this tab has stored none. */
export function takePurchaseOrigin(): string | null {
  const path = sessionStorage.getItem(ORIGIN_KEY);
  sessionStorage.removeItem(ORIGIN_KEY);
  return path;
}

/** True while the browser redirects to PayPal, until the back button restores this page from the back/forward cache. */
export function useRedirecting(): [boolean, (isRedirecting: boolean) => void] {
  const { refreshProfile } = useSession();
  const [isRedirecting, setRedirecting] = useState(false);
  useEffect(() => {
    const onShow = (event: PageTransitionEvent): void => {
      if (!event.persisted) return;
      setRedirecting(false);
      // The user may have paid in the meantime.
      void refreshProfile();
    };
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, [refreshProfile]);
  return [isRedirecting, setRedirecting];
}

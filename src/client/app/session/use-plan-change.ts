/** Detects plan changes while the page is open: a payment in another tab, a webhook, a refund, an expiry. */
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '#client/lib/session/session.ts';

/**
 * Refreshes while the page is visible, one request at a time: a tab that comes to the front fires both `focus` and
 * `visibilitychange`.
 */
export function createPlanRefresh(refreshProfile: () => Promise<unknown>): () => void {
  let isRefreshing = false;
  const refresh = async (): Promise<void> => {
    if (isRefreshing || document.visibilityState === 'hidden') return;
    isRefreshing = true;
    await refreshProfile();
    isRefreshing = false;
  };
  return () => void refresh();
}

export function usePlanChange(premium: boolean | null, queries: QueryClient): void {
  const { expired, refreshProfile } = useSession();
  const previous = useRef(premium);

  useEffect(() => {
    if (expired) return;
    const onReturn = createPlanRefresh(refreshProfile);
    addEventListener('focus', onReturn);
    document.addEventListener('visibilitychange', onReturn);
    return () => {
      removeEventListener('focus', onReturn);
      document.removeEventListener('visibilitychange', onReturn);
    };
  }, [expired, refreshProfile]);

  useEffect(() => {
    if (premium === null) return;
    const hasChanged = previous.current !== null && previous.current !== premium;
    previous.current = premium;
    if (!hasChanged) return;
    // Any cached response may depend on the previous plan.
    queries.removeQueries({ type: 'inactive' });
    void queries.invalidateQueries();
  }, [premium, queries]);
}

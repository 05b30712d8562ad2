/**
 * Detects plan changes while the page is open: a payment in another tab, a webhook, a refund, an expiry. Asks again for a
 * plan that could not be loaded.
 */
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '#client/lib/session/session.ts';

/**
 * Refreshes while the page is visible, one request at a time: a tab that comes to the front fires both `focus` and
 * `visibilitychange`.
 */
function createPlanRefresh(refreshProfile: () => Promise<unknown>): () => void {
  let isRefreshing = false;
  const refresh = async (): Promise<void> => {
    if (isRefreshing || document.visibilityState === 'hidden') return;
    isRefreshing = true;
    await refreshProfile();
    isRefreshing = false;
  };
  return () => void refresh();
}

/** How often a visible page asks for a plan that it could not load. */
const RETRY_MS = 5_000;

export function usePlanChange(premium: boolean | null, queries: QueryClient): void {
  const { expired, profileState, refreshProfile } = useSession();
  const isUnknown = profileState === 'unavailable';
  const previous = useRef(premium);

  useEffect(() => {
    if (expired) return;
    const refresh = createPlanRefresh(refreshProfile);
    // Jitter: the browsers that one outage has cut off don't all ask at one moment.
    const timer = isUnknown ? setInterval(refresh, RETRY_MS * (1 + Math.random() / 2)) : undefined;
    if (isUnknown) addEventListener('online', refresh);
    addEventListener('focus', refresh);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      removeEventListener('online', refresh);
      removeEventListener('focus', refresh);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [expired, isUnknown, refreshProfile]);

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

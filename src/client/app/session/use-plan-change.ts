/** Hears of a plan that changes while the page is open: paid in another tab, booked by a webhook, refunded, run out. */
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '#client/lib/session/session.ts';

export function usePlanChange(premium: boolean | null, queries: QueryClient): void {
  const { expired, refreshProfile } = useSession();
  const before = useRef(premium);

  useEffect(() => {
    if (expired) return;
    let asking = false;
    const look = async (): Promise<void> => {
      // A tab that comes to the front gets both events.
      if (asking || document.visibilityState === 'hidden') return;
      asking = true;
      await refreshProfile();
      asking = false;
    };
    const onLook = (): void => void look();
    addEventListener('focus', onLook);
    document.addEventListener('visibilitychange', onLook);
    return () => {
      removeEventListener('focus', onLook);
      document.removeEventListener('visibilitychange', onLook);
    };
  }, [expired, refreshProfile]);

  useEffect(() => {
    if (premium === null) return;
    const changed = before.current !== null && before.current !== premium;
    before.current = premium;
    if (!changed) return;
    // Everything that was read was answered for the plan before.
    queries.removeQueries({ type: 'inactive' });
    void queries.invalidateQueries();
  }, [premium, queries]);
}

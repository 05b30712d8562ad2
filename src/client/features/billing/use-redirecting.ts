/** True from the moment the browser is sent to PayPal. Back may bring this very page again, frozen as it was left. */
import { useEffect, useState } from 'react';
import { useSession } from '#client/lib/session/session.ts';

export function useLeaving(): [boolean, (leaving: boolean) => void] {
  const { refreshProfile } = useSession();
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    const onShow = (event: PageTransitionEvent): void => {
      if (!event.persisted) return;
      setLeaving(false);
      // Perhaps it was paid since.
      void refreshProfile();
    };
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, [refreshProfile]);
  return [leaving, setLeaving];
}

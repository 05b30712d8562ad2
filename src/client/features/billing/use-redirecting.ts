/** True while the browser redirects to PayPal. The back button may restore this page from the back/forward cache. */
import { useEffect, useState } from 'react';
import { useSession } from '#client/lib/session/session.ts';

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

/** True from the moment the browser is sent to PayPal. Back may bring this very page again, frozen as it was left. */
import { useEffect, useState } from 'react';

export function useLeaving(): [boolean, (leaving: boolean) => void] {
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    const onShow = (event: PageTransitionEvent): void => void (event.persisted && setLeaving(false));
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
  return [leaving, setLeaving];
}

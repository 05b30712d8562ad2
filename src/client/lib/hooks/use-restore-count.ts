/** Counts how often the back button has restored this page from the back/forward cache, with all its state. */
import { useEffect, useState } from 'react';

export function useRestoreCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const onShow = ({ persisted }: PageTransitionEvent): void =>
      setCount((before) => (persisted ? before + 1 : before));
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
  return count;
}

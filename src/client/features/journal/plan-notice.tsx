/** The notice below the day while the plan is unknown. */
import { useSyncExternalStore } from 'react';
import { PlanUnavailable } from '#client/ui/plan/plan-placeholder.tsx';
import styles from './journal.module.css';

function subscribeToConnection(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

/** Hidden while the browser is offline: the user knows why, can do nothing, and would read it below every log. */
export function PlanNotice() {
  const isOnline = useSyncExternalStore(subscribeToConnection, () => navigator.onLine);
  if (!isOnline) return null;
  return (
    <div className={styles.plan}>
      <PlanUnavailable />
    </div>
  );
}

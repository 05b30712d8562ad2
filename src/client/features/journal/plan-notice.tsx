/** The notice below the day while the plan is unknown. */
import { useSyncExternalStore } from 'react';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
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

/** `waiting`: the text in the place of a day that opens once the plan is known; null below an open day. */
type PlanNoticeProps = { waiting: string | null };

/**
 * Below an open day the notice is hidden while the browser is offline, or while the dates of the logs cannot be loaded
 * either: the connection is the problem then, not the plan, and the notice would stand below every log.
 */
export function PlanNotice({ waiting }: PlanNoticeProps) {
  const isOnline = useSyncExternalStore(subscribeToConnection, () => navigator.onLine);
  const { isError: isUnreachable } = useEntryDates();
  if (waiting === null && (!isOnline || isUnreachable)) return null;
  return (
    <div className={styles.plan}>{isOnline ? <PlanUnavailable more={waiting} /> : <p role="status">{waiting}</p>}</div>
  );
}

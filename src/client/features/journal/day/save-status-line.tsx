/** The status of the save below a day, and the links to other days whose text is not saved. */
import { useSyncExternalStore } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import {
  isAlarming,
  isAnnounced,
  KEEP_TAB_OPEN,
  keptText,
  statusText,
  type SaveStatus,
} from '#client/sync/save-status.ts';
import { useUpgrade } from '#client/lib/plan/premium.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import styles from './save-status-line.module.css';

/**
 * The statuses with the button "Try now". `signedOut` is one, because a save can be refused while this page still has a
 * session: then no sign-in overlay opens.
 */
const RETRYABLE_KINDS = ['retrying', 'offline', 'signedOut', 'refused'];

type SaveStatusLineProps = {
  saver: DaySaver;
  status: SaveStatus;
  /** False if the browser could not store the unsaved text. */
  isSafe: boolean;
  /** False while PayPal checks a payment of the user. */
  canUpgrade?: boolean;
};

export function SaveStatusLine({ saver, status, isSafe, canUpgrade = true }: SaveStatusLineProps) {
  const upgrade = useUpgrade();
  const { writeLimit } = useJournal();
  const isLimited = useSyncExternalStore(writeLimit.subscribe, writeLimit.isReached);
  return (
    <div className={styles.line}>
      {/* A screen reader announces the result of a save, but not its progress. */}
      <p
        className={styles.status}
        role="status"
        aria-live={isAnnounced(status) ? 'polite' : 'off'}
        data-alarm={isAlarming(status)}
        data-kind={status.kind}
      >
        {statusText(status, Date.now(), isLimited)}
      </p>
      <p className={isSafe ? styles.kept : styles.warning} role="status">
        {isSafe ? keptText(status, isLimited) : KEEP_TAB_OPEN}
      </p>
      {RETRYABLE_KINDS.includes(status.kind) && (
        <button type="button" className={styles.button} onClick={() => saver.retry()}>
          Try now
        </button>
      )}
      {/* The draft is stored, so the reload loses nothing. */}
      {status.kind === 'outdated' && isSafe && (
        <button type="button" className={styles.button} onClick={() => location.reload()}>
          Reload
        </button>
      )}
      {status.kind === 'locked' && canUpgrade && (
        <button type="button" className={styles.button} onClick={() => upgrade('historical-logs')}>
          Upgrade to Closer
        </button>
      )}
    </div>
  );
}

type UnsavedDaysProps = { except: Day; onOpenDay: (date: Day) => void };

/** Links to the other days with unsaved text. */
export function UnsavedDays({ except, onOpenDay }: UnsavedDaysProps) {
  const { savers } = useJournal();
  const days = useSyncExternalStore(savers.subscribe, savers.unsavedDays).filter((date) => date !== except);
  return (
    <div className={styles.others} role="status">
      {days.map((date) => (
        <button key={date} type="button" className={styles.button} onClick={() => onOpenDay(date)}>
          {dayLabel(date)} is not saved yet
        </button>
      ))}
    </div>
  );
}

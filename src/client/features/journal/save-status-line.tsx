/** The line under the log: small, always there, in words. */
import { useSyncExternalStore } from 'react';
import { weekdayOf } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import type { DaySaver } from './day-saver.ts';
import { useJournal } from './day-savers-provider.tsx';
import { isAlarming, isAnnounced, statusText } from './save-status.ts';
import type { SaveStatus } from './save-status.ts';
import styles from './save-status-line.module.css';

const CAN_BE_TRIED = ['retrying', 'offline', 'refused'];

type SaveStatusLineProps = { saver: DaySaver; status: SaveStatus; onOpenDay: (date: Day) => void };

export function SaveStatusLine({ saver, status, onOpenDay }: SaveStatusLineProps) {
  const { savers } = useJournal();
  const unsavedDays = useSyncExternalStore(savers.subscribe, savers.unsavedDays);
  const elsewhere = unsavedDays.filter((date) => date !== saver.date);
  return (
    <div className={styles.line}>
      {/* Every save is shown; only what ended well or badly is read out. */}
      <p
        className={styles.status}
        role="status"
        aria-live={isAnnounced(status) ? 'polite' : 'off'}
        data-alarm={isAlarming(status)}
        data-kind={status.kind}
      >
        {statusText(status, Date.now())}
      </p>
      {CAN_BE_TRIED.includes(status.kind) && (
        <button type="button" className={styles.button} onClick={() => void saver.retry()}>
          Try now
        </button>
      )}
      {elsewhere.map((date) => (
        <button key={date} type="button" className={styles.button} onClick={() => onOpenDay(date)}>
          {weekdayOf(date)} is not saved yet
        </button>
      ))}
    </div>
  );
}

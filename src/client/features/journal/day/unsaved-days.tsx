/** Links to the other days with unsaved text. */
import { useSyncExternalStore } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import styles from './save-status-line.module.css';

type UnsavedDaysProps = { except: Day; onOpenDay: (date: Day) => void };

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

/** The "Select Date" dialog. A locked day opens the upgrade dialog instead. */
import type { Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { localCopyText } from '#client/sync/save-status.ts';
import { Dialog } from '#client/ui/dialog.tsx';
import styles from './calendar-dialog.module.css';
import { MonthCalendar } from './month-calendar.tsx';

type CalendarDialogProps = {
  date: Day;
  today: Day;
  premium: boolean;
  datesWithEntries: readonly Day[];
  /** If the dates are this device's copy, the epoch milliseconds of the copy; null if the server has answered. */
  datesCopiedAt: number | null;
  onChoose: (day: Day) => void;
  /** Called for a locked day. */
  onLocked: () => void;
  onClose: () => void;
};

export function CalendarDialog({ onChoose, onLocked, onClose, datesCopiedAt, ...calendar }: CalendarDialogProps) {
  const select = (day: Day): void => (isLocked(day, calendar.premium, calendar.today) ? onLocked() : onChoose(day));
  return (
    <Dialog title="Select Date" onClose={onClose} className={styles.dialog}>
      <MonthCalendar {...calendar} onSelect={select} />
      {datesCopiedAt !== null && <p className={styles.copied}>{localCopyText(datesCopiedAt, Date.now())}</p>}
    </Dialog>
  );
}

/** The "Select Date" dialog over the journal. A locked day opens the upgrade dialog instead. */
import type { Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { MonthCalendar } from '#client/features/calendar/month-calendar.tsx';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { localCopyText } from '#client/sync/save-status.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useUpgrade } from '#client/lib/plan/use-upgrade.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { useTimeOff } from '#client/ui/use-time-off.ts';
import { Dialog } from '#client/ui/dialog.tsx';
import type { OverlayProps } from './overlay-props.ts';
import styles from './calendar-overlays.module.css';

export function JournalCalendar({ date, onClose }: OverlayProps) {
  const today = useToday();
  const upgrade = useUpgrade();
  const premium = usePremium() !== false;
  const dates = useEntryDates();
  const { ranges: timeOff } = useTimeOff();
  const navigate = useNavigate();
  const select = (day: Day): void => {
    if (isLocked(day, premium, today)) return upgrade('historical-logs');
    onClose();
    void navigate(dayPath(day));
  };
  if (date === null) return null;
  const isCopy = dates.isError && dates.data !== undefined;
  return (
    <Dialog title="Select Date" onClose={onClose} className={styles.dialog}>
      <MonthCalendar
        date={date}
        today={today}
        premium={premium}
        datesWithEntries={dates.data ?? []}
        timeOff={timeOff}
        onSelect={select}
      />
      {isCopy && <p className={styles.outcome}>{localCopyText(dates.dataUpdatedAt, Date.now())}</p>}
    </Dialog>
  );
}

/** One day: locked, loading, not loadable, or open. A day that could not be loaded is never shown as an empty one. */
import { useQuery } from '@tanstack/react-query';
import { dayLabel } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import { Button } from '#client/ui/button.tsx';
import { DayPage } from './day-page.tsx';
import { useJournal } from './day-savers-provider.tsx';
import { entryQuery } from './entry-queries.ts';
import styles from './journal.module.css';
import { LockedDay } from './locked-day.tsx';

type DayViewProps = {
  date: Day;
  today: Day;
  locked: boolean;
  onUpgrade: () => void;
  /** Nothing was ever written: the line from the landing page belongs here. */
  isFirstLog: boolean;
};

export function DayView(props: DayViewProps) {
  return props.locked ? <LockedDay onUpgrade={props.onUpgrade} /> : <OpenDayView {...props} />;
}

function OpenDayView({ date, today, isFirstLog }: DayViewProps) {
  const { savers, transport } = useJournal();
  const entry = useQuery(entryQuery(transport, date));
  // Words that only this page has can be shown and written on without asking anybody.
  const unsaved = entry.data ? null : savers.withUnsaved(date);

  if (entry.data || unsaved) {
    const read = entry.data ?? { stored: unsaved!.view().stored, askedAt: 0 };
    return <DayPage date={date} today={today} read={read} isFirstLog={isFirstLog} />;
  }
  if (entry.isError) return <NotLoaded date={date} onRetry={() => entry.refetch()} busy={entry.isFetching} />;
  return (
    <div className={styles.skeleton} role="status">
      <p>Loading entry...</p>
      <span />
      <span />
      <span />
    </div>
  );
}

function NotLoaded({ date, onRetry, busy }: { date: Day; onRetry: () => Promise<unknown>; busy: boolean }) {
  return (
    <div className={styles.problem} role="alert">
      <h2>This day could not be loaded.</h2>
      <p>
        What you wrote on {dayLabel(date)} is safe on the server; it just did not arrive. Check your connection, then
        try again.
      </p>
      <Button tone="primary" onClick={() => void onRetry()} busy={busy} busyLabel="Loading...">
        Try again
      </Button>
    </div>
  );
}

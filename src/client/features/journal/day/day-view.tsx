/** One day: locked, loading, not loadable, or open. A day that could not be loaded is never shown as an empty one. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useSyncExternalStore } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { StoredLog } from '#client/editor/stored/stored-log.tsx';
import { Button } from '#client/ui/button.tsx';
import { DayPage } from './day-page.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryQuery, saysLocked } from '#client/sync/entries/entry-queries.ts';
import styles from '../journal.module.css';

type LockedDayProps = { date: Day; onUpgrade: () => void };

const LockedDay = lazy(() =>
  import('./locked-day.tsx').then(
    (module) => ({ default: module.LockedDay }),
    // A plan can run out without a connection. Words that are on this device alone do not wait for code.
    () => ({ default: BareLockedDay }),
  ),
);

type DayViewProps = {
  date: Day;
  today: Day;
  locked: boolean;
  onUpgrade: () => void;
  /** Nothing was ever written: the line from the landing page belongs here. */
  isFirstLog: boolean;
};

export function DayView(props: DayViewProps) {
  return props.locked ? <Locked {...props} /> : <OpenDayView {...props} />;
}

function OpenDayView({ date, today, isFirstLog, onUpgrade }: DayViewProps) {
  const { savers, transport } = useJournal();
  const entry = useQuery(entryQuery(transport, date));
  // The server's word comes before what the page still believes, and before what it read earlier.
  if (saysLocked(entry.error)) return <Locked date={date} onUpgrade={onUpgrade} />;

  // Words that only this page has can be shown and written on without asking anybody.
  const unsaved = entry.data ? null : savers.withUnsaved(date);

  if (entry.data || unsaved) {
    const read = entry.data ?? { stored: unsaved!.view().stored, askedAt: 0 };
    return <DayPage date={date} today={today} read={read} isFirstLog={isFirstLog} onUpgrade={onUpgrade} />;
  }
  if (entry.isError) return <NotLoaded date={date} onRetry={() => entry.refetch()} busy={entry.isFetching} />;
  return <Loading />;
}

function Loading() {
  return (
    <div className={styles.skeleton} role="status">
      <p>Loading entry...</p>
      <span />
      <span />
      <span />
    </div>
  );
}

function Locked({ date, onUpgrade }: LockedDayProps) {
  return (
    <Suspense fallback={<Loading />}>
      <LockedDay date={date} onUpgrade={onUpgrade} />
    </Suspense>
  );
}

function BareLockedDay({ date }: LockedDayProps) {
  const { savers } = useJournal();
  const saver = useSyncExternalStore(savers.subscribe, () => savers.withUnsaved(date));
  return (
    <>
      <p>This day is locked.</p>
      {saver && <StoredLog html={saver.text()} label="What you wrote" />}
    </>
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

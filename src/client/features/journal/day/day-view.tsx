/** Shows a day as locked, loading, failed or open. A day that failed to load is never shown as empty. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { Button } from '#client/ui/button.tsx';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { DayPage } from './day-page.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { entryQuery, isLockedError, isUnreachableError } from '#client/sync/entries/entry-queries.ts';
import styles from '../journal.module.css';

type LockedDayProps = { date: Day; onUpgrade: () => void };

const LockedDay = lazy(() =>
  import('./locked-day.tsx').then(
    (module) => ({ default: module.LockedDay }),
    // A plan can end while the device is offline: unsaved text must be shown without the chunk.
    () => ({ default: LockedDayFallback }),
  ),
);

type DayViewProps = {
  date: Day;
  today: Day;
  locked: boolean;
  onUpgrade: () => void;
  /** The user has no logs, so the log of today takes the line that was typed on the landing page. */
  isFirstLog: boolean;
};

export function DayView(props: DayViewProps) {
  return props.locked ? <Locked {...props} /> : <OpenDayView {...props} />;
}

function OpenDayView({ date, today, isFirstLog, onUpgrade }: DayViewProps) {
  const journal = useJournal();
  const { savers } = journal;
  const entry = useQuery(entryQuery(journal, date));
  const [isBegunOffline, setBegunOffline] = useState(false);
  // The server's answer takes precedence over the page's plan and over cached data.
  if (isLockedError(entry.error)) return <Locked date={date} onUpgrade={onUpgrade} />;

  // Unsaved text of this page can be shown and edited without a response.
  const unsaved = entry.data ? null : savers.getUnsaved(date);
  // Offline the user can begin today's log: once the server answers, the text is merged with the log of another device.
  // The same holds for a day with unsaved text of a closed page. The day stays open during the next read, or keys
  // pressed meanwhile would be lost.
  if (!isBegunOffline && isUnreachableError(entry.error) && (date === today || savers.openDraft(date)))
    setBegunOffline(true);

  if (entry.data || unsaved || isBegunOffline) {
    const read = entry.data ?? { stored: unsaved?.view().stored ?? null, readAt: 0, seenAt: null };
    return <DayPage date={date} today={today} read={read} isFirstLog={isFirstLog} onUpgrade={onUpgrade} />;
  }
  if (entry.isError) return <NotLoaded date={date} onRetry={() => entry.refetch()} busy={entry.isFetching} />;
  return <Loading />;
}

function Loading() {
  return (
    <div className={styles.skeleton}>
      <LoadingText text="Loading entry..." />
      <span />
      <span />
      <span />
    </div>
  );
}

function Locked({ date, onUpgrade }: LockedDayProps) {
  useDismissEarlyPage();
  return (
    <Suspense fallback={<Loading />}>
      <LockedDay date={date} onUpgrade={onUpgrade} />
    </Suspense>
  );
}

function LockedDayFallback({ date }: LockedDayProps) {
  const { savers } = useJournal();
  const saver = useSyncExternalStore(savers.subscribe, () => savers.getUnsaved(date));
  return (
    <>
      <p>This day is locked.</p>
      {saver && <StoredLog html={saver.text()} label="What you wrote" />}
    </>
  );
}

function NotLoaded({ date, onRetry, busy }: { date: Day; onRetry: () => Promise<unknown>; busy: boolean }) {
  useDismissEarlyPage();
  return (
    <div className={styles.problem} role="alert">
      <h2>This day could not be loaded.</h2>
      <p>What you wrote on {dayLabel(date)} is safe, but could not be loaded. Check your connection, then try again.</p>
      <Button tone="primary" onClick={() => void onRetry()} busy={busy} busyLabel="Loading...">
        Try again
      </Button>
    </div>
  );
}

/** The dialog "Deleted days": lists the logs that were deleted in the last 30 days, and brings one back. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dateLabel, dayLabel, type Day } from '#domain/day/day.ts';
import { VERSION_DAYS } from '#domain/log/entry.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { dayPath } from '#domain/routes.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { restoreLog } from '#client/sync/entries/restore-log.ts';
import { formatTime } from '#client/sync/save-status.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { LoadProblem, deletedDaysQuery, readVersion, type ListedDay } from './version-queries.tsx';
import styles from './versions.module.css';

export function DeletedDaysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Deleted days" onClose={onClose} className={styles.days}>
      <p className={styles.hint}>A log that you delete stays here for {VERSION_DAYS} days.</p>
      <DeletedDays onClose={onClose} />
    </Dialog>
  );
}

function DeletedDays({ onClose }: { onClose: () => void }) {
  const data = useData();
  const { id: userId } = useUser();
  const today = useToday();
  const premium = usePremium();
  const request = useQuery(deletedDaysQuery(data, userId));
  const { bringBack, busyDay, failedDay } = useBringBack(onClose);

  if (request.isError) return <LoadProblem what="deleted days" request={request} />;
  if (!request.data) return <LoadingText />;
  // The server also returns days that are open only in another time zone. Hide those that are locked in this one.
  const days = request.data.filter(({ date }) => !isLocked(date, premium !== false, today));
  if (days.length === 0) return <p className={styles.empty}>No deleted days.</p>;
  return (
    <ul className={styles.dayList}>
      {days.map((deleted) => (
        <li key={deleted.date} className={styles.day}>
          <div>
            <h3 className={styles.dayName}>{dayLabel(deleted.date)}</h3>
            <p className={styles.excerpt} dir="auto">
              {deleted.excerpt}
            </p>
            <p className={styles.reason}>
              Deleted{' '}
              <time dateTime={deleted.deleted_at}>{formatTime(Date.parse(deleted.deleted_at), Date.now())}</time>
            </p>
          </div>
          <Button
            aria-label={`Bring back ${dayLabel(deleted.date)}`}
            busy={busyDay === deleted.date}
            onClick={() => void bringBack(deleted)}
          >
            Bring back
          </Button>
          {failedDay === deleted.date && (
            <Notice kind="error">Couldn&apos;t load this log. It is safe. Try again.</Notice>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Saves the log like an edit of the user, and opens its day. */
function useBringBack(onDone: () => void) {
  const { savers } = useJournal();
  const data = useData();
  const { id: userId } = useUser();
  const toast = useToast();
  const navigate = useNavigate();
  const [busyDay, setBusyDay] = useState<Day | null>(null);
  const [failedDay, setFailedDay] = useState<Day | null>(null);

  async function bringBack({ date, version_id: id }: ListedDay): Promise<void> {
    setBusyDay(date);
    setFailedDay(null);
    const html = await readVersion(data, userId, id).catch(() => null);
    setBusyDay(null);
    if (html === null) return setFailedDay(date);
    const isSaved = await restoreLog(savers, date, html);
    onDone();
    // The status line of the day says why a log is not saved yet.
    if (isSaved) toast({ kind: 'success', topic: date, text: `The log of ${dateLabel(date)} is back.` });
    await navigate(dayPath(date));
  }
  return { bringBack, busyDay, failedDay };
}

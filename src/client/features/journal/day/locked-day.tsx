/**
 * A day too old for the plan: whether it has a log, and how to open it. There is no text under it to uncover: the server
 * gives none out. Only words that were written here and could not be sent are shown, because they are nowhere else.
 */
import { Lock } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import type { Day } from '#domain/day/day.ts';
import { FREE_WINDOW_DAYS } from '#domain/plan/plan.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { KeptWords } from './unsaved-draft.tsx';
import styles from './locked-day.module.css';

export function LockedDay({ date, onUpgrade }: { date: Day; onUpgrade: () => void }) {
  const { savers } = useJournal();
  const saver = useSyncExternalStore(savers.subscribe, () => savers.withUnsaved(date));
  const { data: dates, isPending } = useEntryDates();
  // A draft that could not be looked at when the page began.
  useEffect(() => void savers.recover(date), [date, savers]);

  if (isPending && !saver) return null;
  // Where the dates could not be read, or unsent words are here, nobody knows whether the day is empty.
  const content = dates?.includes(date) ? 'log' : dates && !saver ? 'nothing' : 'unknown';
  return (
    <section className={styles.locked} aria-labelledby="locked-day">
      {content === 'log' && !saver && (
        <ol className={styles.lines} aria-hidden="true">
          <li />
          <li />
          <li />
        </ol>
      )}
      <div className={styles.banner}>
        <Lock aria-hidden />
        <div>
          <p id="locked-day">{TITLES[content]}</p>
          {content === 'log' ? (
            <p className={styles.why}>
              <strong>Historical Log Locked:</strong> This log is older than {FREE_WINDOW_DAYS} days. Upgrade to Closer
              for unlimited access to all your historical logs.
            </p>
          ) : (
            <p className={styles.why}>
              Your plan opens the last {FREE_WINDOW_DAYS} days. Upgrade to Closer to write on older days as well.
            </p>
          )}
          <UpgradeButton onClick={onUpgrade} />
        </div>
      </div>
      {saver && <KeptWords saver={saver} onUpgrade={onUpgrade} />}
    </section>
  );
}

const TITLES = {
  log: 'This log is locked. Upgrade to Closer to access historical logs.',
  nothing: 'Nothing was logged on this day.',
  unknown: 'This day is locked.',
} as const;

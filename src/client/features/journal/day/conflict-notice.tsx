/** Shows a conflict: the page keeps both versions until the user chooses. */
import { useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { StoredLog } from '#client/editor/stored/stored-log.tsx';
import { Button } from '#client/ui/button.tsx';
import styles from './conflict-notice.module.css';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import type { SaverView } from '#client/sync/day-saver/state.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import type { MovedLog } from '#client/sync/save-requests.ts';

type ConflictNoticeProps = { saver: DaySaver; conflict: NonNullable<SaverView['conflict']> };

export function ConflictNotice({ saver, conflict: { theirs, moved } }: ConflictNoticeProps) {
  const titleId = useId();
  if (moved) return <MovedNotice saver={saver} to={moved} />;
  return (
    <section className={styles.notice} aria-labelledby={titleId}>
      <h2 id={titleId} className={styles.title}>
        This day was changed somewhere else.
      </h2>
      <p className={styles.text}>
        Your version above is kept on this device and nothing was overwritten. This is the other one:
      </p>
      <div className={styles.theirs} tabIndex={0} role="group" aria-label="The other version">
        <StoredLog html={theirs?.html ?? ''} label="The other version" />
      </div>
      <div className={styles.choices}>
        <Button tone="primary" onClick={() => saver.keepBoth()}>
          Keep both
        </Button>
        <Button onClick={() => saver.takeTheirs()}>Use the other one</Button>
      </div>
    </section>
  );
}

function MovedNotice({ saver, to: { date } }: { saver: DaySaver; to: MovedLog }) {
  const titleId = useId();
  const { savers } = useJournal();
  const navigate = useNavigate();
  const add = async (): Promise<void> => {
    if (await savers.addToMovedLog(saver.date)) void navigate({ to: ROUTES.journal.path, search: { date } as never });
  };
  return (
    <section className={styles.notice} aria-labelledby={titleId}>
      <h2 id={titleId} className={styles.title}>
        This log was moved to {dayLabel(date)}.
      </h2>
      <p className={styles.text}>What you wrote here since then is kept on this device, and not saved yet.</p>
      <div className={styles.choices}>
        <Button tone="primary" onClick={() => void add()}>
          Add it to that day
        </Button>
        <Button onClick={() => saver.keepBoth()}>Keep it on this day</Button>
      </div>
    </section>
  );
}

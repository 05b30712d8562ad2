/** This day was changed somewhere else. Nothing was overwritten; both versions are on the page until one is chosen. */
import { useId } from 'react';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { Button } from '#client/ui/button.tsx';
import type { DaySaver } from './day-saver.ts';
import styles from './conflict-notice.module.css';
import type { StoredLog as Stored } from './save-outcome.ts';

export function ConflictNotice({ saver, theirs }: { saver: DaySaver; theirs: Stored | null }) {
  const titleId = useId();
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
        <Button tone="primary" onClick={() => void saver.keepBoth()}>
          Keep both
        </Button>
        <Button onClick={() => saver.takeTheirs()}>Use the other one</Button>
      </div>
    </section>
  );
}

/** A log too old for the plan. There is no text under it to uncover: the server gives none out. */
import { Lock } from 'lucide-react';
import { FREE_WINDOW_DAYS } from '#domain/plan.ts';
import { Button } from '#client/ui/button.tsx';
import styles from './locked-day.module.css';

export function LockedDay({ onUpgrade }: { onUpgrade: () => void }) {
  return (
    <section className={styles.locked} aria-labelledby="locked-day">
      <ol className={styles.lines} aria-hidden="true">
        <li />
        <li />
        <li />
      </ol>
      <div className={styles.banner}>
        <Lock aria-hidden />
        <div>
          <p id="locked-day">This log is locked. Upgrade to Closer to access historical logs.</p>
          <p className={styles.why}>
            <strong>Historical Log Locked:</strong> This log is older than {FREE_WINDOW_DAYS} days. Upgrade to Closer
            for unlimited access to all your historical logs.
          </p>
          <Button tone="primary" onClick={onUpgrade}>
            Upgrade to Closer
          </Button>
        </div>
      </div>
    </section>
  );
}

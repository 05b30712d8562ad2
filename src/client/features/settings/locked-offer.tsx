/** Under what only a Closer may use: the crown, and the way to become one. */
import { Button } from '#client/ui/button.tsx';
import { LockedCrown } from '#client/ui/crown.tsx';
import styles from './settings.module.css';

export function LockedOffer({ id, onUpgrade }: { id: string; onUpgrade: () => void }) {
  return (
    <div className={styles.offer}>
      <Button tone="primary" onClick={onUpgrade}>
        Upgrade to Closer
      </Button>
      <p id={id} className={styles.closers}>
        <LockedCrown aria-hidden="true" /> Closers only
      </p>
    </div>
  );
}

/** Under what only a Closer may use: what it would open, and the way to become one. */
import { PREMIUM_PRICE } from '#domain/plan.ts';
import { Button } from '#client/ui/button.tsx';
import { LockedCrown } from '#client/ui/crown.tsx';
import styles from './settings.module.css';

export function LockedOffer({ id, what, onUpgrade }: { id: string; what: string; onUpgrade: () => void }) {
  return (
    <div className={styles.offer}>
      <p id={id} className={styles.closers}>
        <LockedCrown aria-hidden="true" />
        <span>
          {what} <span className={styles.price}>{PREMIUM_PRICE.label}</span>
        </span>
      </p>
      <Button tone="primary" onClick={onUpgrade}>
        Upgrade to Closer
      </Button>
    </div>
  );
}

/** Under what only a Closer may use: what it would open, and the way to become one. */
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { LockedCrown } from '#client/ui/plan/crown.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
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
      <UpgradeButton onClick={onUpgrade} />
    </div>
  );
}

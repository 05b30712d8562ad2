/** The upgrade prompt under a locked setting. */
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { LockedCrown } from '#client/ui/plan/crown.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import styles from './settings.module.css';

export function UpgradePrompt({ id, text, onUpgrade }: { id: string; text: string; onUpgrade: () => void }) {
  return (
    <div className={styles.offer}>
      <p id={id} className={styles.promptText}>
        <LockedCrown aria-hidden="true" />
        <span>
          {text} <span className={styles.price}>{PREMIUM_PRICE.label}</span>
        </span>
      </p>
      <UpgradeButton onClick={onUpgrade} />
    </div>
  );
}

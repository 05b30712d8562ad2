/** Names the account whose password is being set. */
import type { Proof } from '../link/use-proof.ts';
import styles from '../account.module.css';

export function WhosePassword({ proof }: { proof: Proof }) {
  return (
    <p className={styles.lead}>
      For the account <strong>{proof.user.email}</strong>.
    </p>
  );
}

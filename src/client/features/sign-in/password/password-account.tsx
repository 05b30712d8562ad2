/** Names the account whose password is being set. */
import type { VerifiedAccount } from '../link/use-link-verification.ts';
import styles from '../sign-in.module.css';

export function PasswordAccount({ account }: { account: VerifiedAccount }) {
  return (
    <p className={styles.lead}>
      You are setting a new password for <strong>{account.user.email}</strong>.
    </p>
  );
}

/** Names the signed-in account on screens that may sign in another account instead. */
import { useSession } from '#client/lib/session/session.ts';
import styles from './sign-in.module.css';

export function SignedInAs() {
  const { user } = useSession();
  return (
    user && (
      <p className={styles.lead}>
        You are signed in as <strong>{user.email}</strong>.
      </p>
    )
  );
}

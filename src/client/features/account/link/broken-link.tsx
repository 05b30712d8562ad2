/** A link that brought an error: what happened, and how to get another one. */
import { Link } from '@tanstack/react-router';
import { ROUTES } from '#domain/routes.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { AccountLayout } from '../account-layout.tsx';
import styles from '../account.module.css';

export function BrokenLink({ text, onForward }: { text: string; onForward: () => void }) {
  const { user } = useSession();
  return (
    <AccountLayout title="This link does not work">
      <div className={styles.notice}>
        <Notice kind="error">{text}</Notice>
        {user ? (
          <p>
            You are signed in as <strong>{user.email}</strong>. For a new link, save the change in your{' '}
            <Link to={ROUTES.profile.path} onClick={clearAuthLink}>
              profile
            </Link>{' '}
            again.
          </p>
        ) : (
          <>
            <p>
              For a new password,{' '}
              <Link to={ROUTES.forgotPassword.path} onClick={clearAuthLink}>
                request a new link
              </Link>
              .
            </p>
            <p>To confirm your address, sign in. You can ask for a new mail there.</p>
          </>
        )}
        <Button onClick={onForward}>{user ? 'Open your journal' : 'Sign in'}</Button>
      </div>
    </AccountLayout>
  );
}

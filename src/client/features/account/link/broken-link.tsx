/** Explains why a mailed link failed and how to get another one. */
import { Link } from '@tanstack/react-router';
import { ROUTES } from '#domain/routes.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { AccountLayout } from '../account-layout.tsx';
import styles from '../account.module.css';

export function BrokenLink({ text, onContinue }: { text: string; onContinue: () => void }) {
  const { user } = useSession();
  return (
    <AccountLayout title="This link does not work">
      <div className={styles.notice}>
        <Notice kind="error">{text}</Notice>
        {user ? (
          <p>
            You are signed in as <strong>{user.email}</strong>. To get a new link, save the change again in your{' '}
            <Link to={ROUTES.profile.path} onClick={clearAuthLink}>
              profile
            </Link>
            .
          </p>
        ) : (
          <>
            <p>
              To reset your password,{' '}
              <Link to={ROUTES.forgotPassword.path} onClick={clearAuthLink}>
                request a new link
              </Link>
              .
            </p>
            <p>To confirm your email address, sign in. You can request a new email there.</p>
          </>
        )}
        <Button onClick={onContinue}>{user ? 'Open your journal' : 'Sign in'}</Button>
      </div>
    </AccountLayout>
  );
}

/** Set a new password, from a recovery link or while signed in. */
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { newPasswordProblem } from '#domain/account.ts';
import { MESSAGES, resetMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSession } from '#client/lib/session.ts';
import { useSupabase } from '#client/lib/supabase.ts';
import { textOf, useSubmit } from '#client/lib/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PasswordField } from '#client/ui/password-field.tsx';
import { AccountLayout } from './account-layout.tsx';
import { useRecovery } from './use-recovery.ts';
import styles from './account.module.css';

const REDIRECT_MS = 2_000;
const TITLE = 'Set a new password';

export function ResetPasswordScreen() {
  const { status } = useSession();
  const recovery = useRecovery();

  if (recovery.step === 'checking' || (recovery.step === 'noLink' && status === 'loading')) {
    return (
      <AccountLayout title={TITLE} lead="Checking your link...">
        {' '}
        {null}
      </AccountLayout>
    );
  }
  if (recovery.step === 'click') return <OpenLink onOpen={recovery.open} />;
  if (recovery.step === 'invalid' || (recovery.step === 'noLink' && status !== 'signedIn')) return <InvalidLink />;
  return <NewPasswordForm />;
}

function OpenLink({ onOpen }: { onOpen: () => Promise<void> }) {
  const { busy, onSubmit } = useSubmit(async () => {
    await onOpen();
    return null;
  });
  return (
    <AccountLayout title={TITLE} lead="Your link is here. Continue, and choose a new password.">
      <form className={styles.form} onSubmit={onSubmit}>
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Checking your link...">
          Continue
        </Button>
      </form>
    </AccountLayout>
  );
}

function InvalidLink() {
  return (
    <AccountLayout title={TITLE} footer={<Link to={ROUTES.login.path}>Back to Login</Link>}>
      <div className={styles.notice}>
        <Notice kind="error">{MESSAGES.resetLinkInvalid}</Notice>
        <Link to={ROUTES.forgotPassword.path}>Request a new link</Link>
      </div>
    </AccountLayout>
  );
}

function NewPasswordForm() {
  const { auth } = useSupabase();
  const router = useRouter();
  const [done, setDone] = useState(false);
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const password = textOf(form, 'password');
    const problem = newPasswordProblem(password, textOf(form, 'confirmation'));
    if (problem)
      return {
        kind: 'error',
        text: problem,
        field: problem === 'Passwords do not match' ? 'confirmation' : 'password',
      };
    const { error } = await auth.updateUser({ password });
    if (error) return { kind: 'error', text: resetMessage(error) };
    setDone(true);
    return { kind: 'success', text: MESSAGES.passwordUpdated };
  });

  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => router.history.replace(ROUTES.journal.path), REDIRECT_MS);
    return () => clearTimeout(timer);
  }, [done, router]);

  return (
    <AccountLayout title={TITLE}>
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        {!done && (
          <>
            <PasswordField
              label="New password"
              name="password"
              autoComplete="new-password"
              required
              autoFocus
              error={errorOf('password')}
            />
            <PasswordField
              label="Confirm new password"
              name="confirmation"
              autoComplete="new-password"
              required
              error={errorOf('confirmation')}
            />
            <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Updating...">
              Update Password
            </Button>
          </>
        )}
      </form>
    </AccountLayout>
  );
}

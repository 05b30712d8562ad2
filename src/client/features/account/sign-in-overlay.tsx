/** Asks for the password over the page somebody is writing on, when their session ran out. Nothing typed is lost. */
import { signInMessage } from '#domain/messages.ts';
import { useUser } from '#client/lib/session.ts';
import { useSupabase } from '#client/lib/supabase.ts';
import { useSignOut } from '#client/lib/use-sign-out.ts';
import { textOf, useSubmit } from '#client/lib/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PasswordField } from '#client/ui/password-field.tsx';
import { SignOutDialog } from '#client/ui/sign-out-dialog.tsx';
import { EmailField } from './email-field.tsx';
import styles from './account.module.css';

export function SignInOverlay() {
  const { auth } = useSupabase();
  const signingOut = useSignOut();
  const user = useUser();
  const email = user.email ?? '';
  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    // The session that this opens takes the overlay away.
    const { error } = await auth.signInWithPassword({ email, password: textOf(form, 'password') });
    return error ? { kind: 'error', text: signInMessage(error) } : null;
  });

  return (
    <Dialog title="Sign in again" dismissible={false} onClose={() => undefined}>
      <p className={styles.lead}>
        Your session has ended. What you wrote is still here and is saved as soon as you are back.
      </p>
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <EmailField value={email} readOnly />
        <PasswordField label="Password" name="password" autoComplete="current-password" required data-autofocus />
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Signing in...">
          Sign in
        </Button>
        <Button tone="text" onClick={() => signingOut.start('local')}>
          Leave this page instead
        </Button>
      </form>
      <SignOutDialog signingOut={signingOut} />
    </Dialog>
  );
}

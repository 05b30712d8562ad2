/**
 * Asks for the password over the page somebody is writing on, when their session ran out. Nothing typed is lost, also when
 * the password is forgotten: a new one is set right here.
 */
import { useState } from 'react';
import { MESSAGES, recoveryMessage, signInMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PasswordField } from '#client/ui/form/password-field.tsx';
import { SignOutDialog } from '#client/ui/account/sign-out-dialog.tsx';
import { EmailField } from './email-field.tsx';
import { NewPasswordForm } from './password/new-password-form.tsx';
import { RecoveryCodeForm } from './password/recovery-code-form.tsx';
import { adoptSession } from './link/use-proof.ts';
import type { Proof } from './link/use-proof.ts';
import { WhosePassword } from './password/whose-password.tsx';
import styles from './account.module.css';

export function SignInOverlay() {
  const { auth } = useSupabase();
  const [step, setStep] = useState<'password' | 'code' | Proof>('password');

  return (
    <Dialog title="Sign in again" dismissible={false} onClose={() => undefined}>
      {step === 'password' && <PasswordStep onSent={() => setStep('code')} />}
      {step === 'code' && <CodeStep onProven={setStep} onBack={() => setStep('password')} />}
      {typeof step === 'object' && (
        <>
          <WhosePassword proof={step} />
          <NewPasswordForm
            auth={step.auth}
            address={step.user.email ?? ''}
            onAccepted={async () => {
              // The session that this stores takes the overlay away.
              const error = await adoptSession(auth, step);
              if (error) setStep('password');
              return null;
            }}
            askAgain={
              <button type="button" className={styles.inline} onClick={() => setStep('password')}>
                Start again
              </button>
            }
          />
        </>
      )}
    </Dialog>
  );
}

function PasswordStep({ onSent }: { onSent: () => void }) {
  const { auth } = useSupabase();
  const signingOut = useSignOut();
  const email = useUser().email ?? '';
  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    // The session that this opens takes the overlay away.
    const { error } = await auth.signInWithPassword({ email, password: textOf(form, 'password') });
    return error ? { kind: 'error', text: signInMessage(error) } : null;
  });
  const forgotten = useSubmit(async () => {
    const { error } = await auth.resetPasswordForEmail(email, {
      redirectTo: `${location.origin}${ROUTES.resetPassword.path}`,
    });
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    onSent();
    return null;
  });

  return (
    <>
      <p className={styles.lead}>
        Your session has ended. What you wrote is still here and is saved as soon as you are back.
      </p>
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <EmailField value={email} readOnly />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          autoFocus
          data-autofocus
        />
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Signing in...">
          Sign in
        </Button>
      </form>
      <form className={styles.under} onSubmit={forgotten.onSubmit}>
        {forgotten.outcome && <Notice kind={forgotten.outcome.kind}>{forgotten.outcome.text}</Notice>}
        <Button tone="text" type="submit" busy={forgotten.busy} busyLabel="Sending...">
          Forgot your password?
        </Button>
        <Button tone="text" onClick={() => signingOut.start('local')}>
          Leave this page instead
        </Button>
      </form>
      <SignOutDialog signingOut={signingOut} />
    </>
  );
}

function CodeStep({ onProven, onBack }: { onProven: (proof: Proof) => void; onBack: () => void }) {
  const email = useUser().email ?? '';
  return (
    <>
      <div className={styles.notice}>
        <Notice kind="success">{MESSAGES.resetMailSent}</Notice>
        <p>
          Type the code that we sent to <strong>{email}</strong>, or open the link in another tab of this browser. What
          you wrote stays on this page.
        </p>
      </div>
      <RecoveryCodeForm address={email} onProven={onProven} />
      <div className={styles.under}>
        <Button tone="text" onClick={onBack}>
          Back
        </Button>
      </div>
    </>
  );
}

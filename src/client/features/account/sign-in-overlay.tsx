/**
 * An overlay that asks for the password when the session has expired. The page below stays mounted, so no text is lost,
 * even if the user has to reset the password here.
 */
import { useState } from 'react';
import { MESSAGES, recoveryMessage, signInMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { ssoProviderOf } from '#client/lib/session/sso-user.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PasswordField } from '#client/ui/form/password-field.tsx';
import { useWelcomeBack } from '#client/ui/account/use-welcome-back.ts';
import { SignOutDialog } from '#client/ui/account/sign-out-dialog.tsx';
import { SecondStep } from '#client/ui/second-step/second-step.tsx';
import { EmailField } from './email-field.tsx';
import { NewPasswordForm } from './password/new-password-form.tsx';
import { RecoveryCodeForm } from './password/recovery-code-form.tsx';
import { useAdoptSession } from './link/use-link-verification.ts';
import type { VerifiedAccount } from './link/use-link-verification.ts';
import { PasswordAccount } from './password/password-account.tsx';
import { AfterSecondStep } from './second-step/after-second-step.tsx';
import { OtherTabButton, OVERLAY_FORMS, OverlayWays } from './ways/overlay-ways.tsx';
import type { OverlayForm } from './ways/overlay-ways.tsx';
import { OverlayFrame } from './ways/way-frame.tsx';
import styles from './account.module.css';

export function SignInOverlay() {
  const { auth } = useSupabase();
  const { secondStepUser } = useSession();
  useWelcomeBack();

  return (
    <Dialog title="Sign in again" dismissible={false} onClose={() => undefined}>
      {secondStepUser && (
        <>
          <p className={styles.lead}>
            One more step to sign in as <strong>{secondStepUser.email}</strong>.
          </p>
          <div className={styles.notice}>
            <SecondStep auth={auth} user={secondStepUser}>
              {/* Ends the session of the first step, which shows the password form again. */}
              <Button tone="text" onClick={() => void auth.signOut({ scope: 'local' })}>
                Back
              </Button>
            </SecondStep>
          </div>
        </>
      )}
      {!secondStepUser && <FirstStep />}
    </Dialog>
  );
}

/** The first step: the password, or a new one after a mailed code. */
function FirstStep() {
  const adoptSession = useAdoptSession();
  const user = useUser();
  const email = user.email ?? '';
  const ssoProvider = ssoProviderOf(user);
  const [step, setStep] = useState<'password' | 'code' | OverlayForm | VerifiedAccount>('password');
  const FormView = step === 'mailCode' || step === 'phoneCode' || step === 'wallet' ? OVERLAY_FORMS[step].View : null;

  return (
    <>
      {step === 'password' && ssoProvider !== undefined && <SsoStep provider={ssoProvider} />}
      {step === 'password' && ssoProvider === undefined && (
        <PasswordStep onSent={() => setStep('code')} onOpen={setStep} />
      )}
      {FormView && <FormView frame={OverlayFrame} address={email} onBack={() => setStep('password')} />}
      {step === 'code' && <CodeStep onVerified={setStep} onBack={() => setStep('password')} />}
      {typeof step === 'object' && (
        <>
          <PasswordAccount account={step} />
          <AfterSecondStep account={step}>
            <NewPasswordForm
              auth={step.auth}
              address={step.user.email ?? ''}
              onAccepted={async () => {
                // A stored session closes the overlay.
                const error = await adoptSession(step);
                if (error) setStep('password');
                return null;
              }}
              requestAgain={
                <button type="button" className={styles.inline} onClick={() => setStep('password')}>
                  Start again
                </button>
              }
            />
          </AfterSecondStep>
        </>
      )}
    </>
  );
}

const SESSION_ENDED = 'Your session has ended. Your text is still here and will be saved when you sign in.';

/** An account of single sign-on has no other way in, not even a mailed code. */
function SsoStep({ provider }: { provider: string }) {
  const signingOut = useSignOut();
  return (
    <>
      <p className={styles.lead}>{SESSION_ENDED}</p>
      <EmailField value={useUser().email ?? ''} readOnly />
      <OtherTabButton name={provider} label="single sign-on" />
      <div className={styles.under}>
        <Button tone="text" onClick={() => signingOut.start('local')}>
          Sign out and leave this page
        </Button>
      </div>
      <SignOutDialog signingOut={signingOut} />
    </>
  );
}

function PasswordStep({ onSent, onOpen }: { onSent: () => void; onOpen: (form: OverlayForm) => void }) {
  const { auth } = useSupabase();
  const signingOut = useSignOut();
  const email = useUser().email ?? '';
  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    // A new session closes the overlay.
    const { error } = await auth.signInWithPassword({ email, password: textOf(form, 'password') });
    return error ? { kind: 'error', text: signInMessage(error) } : null;
  });
  const recovery = useSubmit(async () => {
    const { error } = await auth.resetPasswordForEmail(email, {
      redirectTo: `${location.origin}${ROUTES.resetPassword.path}`,
    });
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    onSent();
    return null;
  });

  return (
    <>
      <p className={styles.lead}>{SESSION_ENDED}</p>
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
      <OverlayWays onOpen={onOpen} />
      <form className={styles.under} onSubmit={recovery.onSubmit}>
        {recovery.outcome && <Notice kind={recovery.outcome.kind}>{recovery.outcome.text}</Notice>}
        <Button tone="text" type="submit" busy={recovery.busy} busyLabel="Sending...">
          Forgot your password?
        </Button>
        <Button tone="text" onClick={() => signingOut.start('local')}>
          Sign out and leave this page
        </Button>
      </form>
      <SignOutDialog signingOut={signingOut} />
    </>
  );
}

function CodeStep({ onVerified, onBack }: { onVerified: (account: VerifiedAccount) => void; onBack: () => void }) {
  const email = useUser().email ?? '';
  return (
    <>
      <div className={styles.notice}>
        <Notice kind="success">{MESSAGES.resetMailSent}</Notice>
        <p>
          Enter the code that we sent to <strong>{email}</strong>, or open the link in another tab of this browser. Your
          text stays on this page.
        </p>
      </div>
      <RecoveryCodeForm address={email} onVerified={onVerified} />
      <div className={styles.under}>
        <Button tone="text" onClick={onBack}>
          Back
        </Button>
      </div>
    </>
  );
}

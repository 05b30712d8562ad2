/** Sets a new password after a mailed link or code: takes the code, passes the second step, takes the password. */
import { Suspense, useState, type ReactNode } from 'react';
import { passwordMessage, validateNewPassword, validateEmail } from '#domain/account/account.ts';
import { MESSAGES, resetMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import { createMemoryAuth } from '#client/lib/api/auth-client.ts';
import { useSupabase, type Auth } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Notice } from '#client/ui/notice.tsx';
import { lazyChunk } from '#client/ui/lazy-chunk.ts';
import { PasswordField, Form, SubmitButton } from '#client/ui/form/form.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { verifiedAccount, type VerifiedAccount } from '../link/use-link-verification.ts';
import { EmailField } from '../account-fields.tsx';
import { Lead } from '../sign-in-layout.tsx';

type NewPasswordProps = Pick<NewPasswordFormProps, 'onAccepted' | 'requestAgain'> & {
  account: VerifiedAccount;
  /** Shown below the name of the account. */
  note?: ReactNode;
};

/** Sets a new password for the account that a link or a code was verified for, after its second step. */
export function NewPassword({ account, note, ...form }: NewPasswordProps) {
  return (
    <>
      <Lead>
        You are setting a new password for <strong>{account.user.email}</strong>.
      </Lead>
      {note}
      <AfterSecondStep account={account}>
        <NewPasswordForm auth={account.auth} address={account.user.email ?? ''} {...form} />
      </AfterSecondStep>
    </>
  );
}

type NewPasswordFormProps = {
  /** Holds the session of the account. */
  auth: Auth;
  /** For password managers, which store a password per address. */
  address: string;
  /** Called after the password was changed. */
  onAccepted: () => Promise<Outcome>;
  /** Shown when the session of the link or code has expired. */
  requestAgain?: ReactNode;
};

const REQUEST_LINK = <Link to={ROUTES.forgotPassword.path}>Request a new link</Link>;

/** The two fields of a new password. The screen around it names the account. */
export function NewPasswordForm({ auth, address, onAccepted, requestAgain = REQUEST_LINK }: NewPasswordFormProps) {
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const password = textOf(form, 'password');
    const problem = validateNewPassword(password, textOf(form, 'confirmation'));
    if (problem) {
      return {
        kind: 'error',
        text: problem,
        field: problem === 'Passwords do not match' ? 'confirmation' : 'password',
      };
    }
    const { error } = await auth.updateUser({ password });
    return error ? { kind: 'error', text: passwordMessage(error, resetMessage) } : onAccepted();
  });

  return (
    <Form layout="page" onSubmit={onSubmit}>
      {outcome && outcome.field === undefined && (
        <Notice kind={outcome.kind}>
          {outcome.text}
          {outcome.text === MESSAGES.resetLinkExpired && <> {requestAgain}</>}
        </Notice>
      )}
      <input type="email" name="username" autoComplete="username" value={address} readOnly hidden />
      <PasswordField
        label="New password"
        name="password"
        autoComplete="new-password"
        required
        invalidText="Enter a new password"
        autoFocus
        data-autofocus
        error={errorOf('password')}
      />
      <PasswordField
        label="Confirm new password"
        name="confirmation"
        autoComplete="new-password"
        required
        invalidText="Enter the new password again"
        error={errorOf('confirmation')}
      />
      <SubmitButton layout="page" busy={busy} busyLabel="Updating...">
        Update Password
      </SubmitButton>
    </Form>
  );
}

const secondStep = lazyChunk(async () => (await import('#client/ui/second-step/second-step.tsx')).SecondStep);

/** Shows its children after the account's second step, or at once if the account needs none. */
function AfterSecondStep({ account, children }: { account: VerifiedAccount; children: ReactNode }) {
  const [isPassed, setPassed] = useState(!account.needsSecondStep);
  if (isPassed) return children;
  return (
    <Stack above="s6" stretch>
      <p>Two-step verification is on for this account. Pass it first.</p>
      <Suspense fallback={<LoadingText />}>
        <secondStep.LoadingView auth={account.auth} user={account.user} onPassed={() => setPassed(true)} />
      </Suspense>
    </Stack>
  );
}

type RecoveryCodeFormProps = {
  /** The address that the email was sent to; the form asks for it if missing. */
  address?: string;
  onVerified: (account: VerifiedAccount) => void;
};

/** Takes the code of a recovery email. The session stays in memory until the new password is accepted. */
export function RecoveryCodeForm({ address, onVerified }: RecoveryCodeFormProps) {
  const supabase = useSupabase();
  return (
    <CodeForm
      layout="page"
      autoFocus={address !== undefined}
      check={async (token, form) => {
        const email = address ?? textOf(form, 'email').trim();
        const problem = validateEmail(email);
        if (problem) return { outcome: { kind: 'error', text: problem, field: 'email' } };
        const auth = createMemoryAuth(supabase);
        const { data, error } = await auth.verifyOtp({ email, token, type: 'recovery' });
        if (error) return { error };
        const { user, session } = data;
        if (user && session) onVerified(verifiedAccount(auth, user, session));
        return { outcome: null };
      }}
    >
      {address === undefined ? (errorOf) => <EmailField error={errorOf('email')} /> : undefined}
    </CodeForm>
  );
}

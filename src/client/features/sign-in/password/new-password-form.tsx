/** The two fields of a new password. The screen around it names the account. */
import { Link } from 'wouter';
import type { ReactNode } from 'react';
import { passwordMessage, validateNewPassword } from '#domain/account/account.ts';
import { MESSAGES, resetMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import type { Auth } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PasswordField } from '#client/ui/form/password-field.tsx';
import styles from '../sign-in.module.css';

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
    <form className={styles.form} onSubmit={onSubmit}>
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
      <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Updating...">
        Update Password
      </Button>
    </form>
  );
}

/** Ask for a link that sets a new password. The answer is the same whether or not the address has an account. */
import { Link } from '@tanstack/react-router';
import { emailProblem } from '#domain/account.ts';
import { MESSAGES, recoverMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSupabase } from '#client/lib/supabase.ts';
import { textOf, useSubmit } from '#client/lib/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { AccountLayout } from './account-layout.tsx';
import { EmailField } from './email-field.tsx';
import styles from './account.module.css';

export function ForgotPasswordScreen() {
  const { auth } = useSupabase();
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const email = textOf(form, 'email').trim();
    const problem = emailProblem(email);
    if (problem) return { kind: 'error', text: problem, field: 'email' };
    const { error } = await auth.resetPasswordForEmail(email, {
      redirectTo: `${location.origin}${ROUTES.resetPassword.path}`,
    });
    return error ? { kind: 'error', text: recoverMessage(error) } : { kind: 'success', text: MESSAGES.resetMailSent };
  });

  return (
    <AccountLayout
      title="Forgot your password?"
      lead="Tell us your address. We send a link that sets a new one."
      footer={<Link to={ROUTES.login.path}>Back to Login</Link>}
    >
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <EmailField autoFocus error={errorOf('email')} />
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Sending...">
          Send Reset Link
        </Button>
      </form>
    </AccountLayout>
  );
}

/**
 * Ask for a mail that sets a new password, and type its code. The answer is the same whether or not the address has an
 * account.
 */
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { validateEmail } from '#domain/account/account.ts';
import { MESSAGES, recoveryMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { AccountLayout } from '../account-layout.tsx';
import { EmailField } from '../email-field.tsx';
import { NewPasswordForm } from './new-password-form.tsx';
import { RecoveryCodeForm } from './recovery-code-form.tsx';
import { adoptSession } from '../link/use-proof.ts';
import type { Proof } from '../link/use-proof.ts';
import { WhosePassword } from './whose-password.tsx';
import styles from '../account.module.css';

export function ForgotPasswordScreen() {
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [proof, setProof] = useState<Proof | null>(null);
  if (proof) return <NewPassword proof={proof} />;
  if (sentTo === null) return <AskForMail onSent={setSentTo} />;
  return (
    <AccountLayout
      title="Check your e-mail"
      lead={
        <>
          The mail goes to <strong>{sentTo}</strong>, if that address has an account. Open its link, or type its code
          here.
        </>
      }
      footer={
        <>
          Nothing there? Look in the spam folder, or{' '}
          <button type="button" className={styles.inline} onClick={() => setSentTo(null)}>
            ask again
          </button>
          .
        </>
      }
    >
      <div className={styles.notice}>
        <Notice kind="success">{MESSAGES.resetMailSent}</Notice>
      </div>
      <RecoveryCodeForm address={sentTo} onProven={setProof} />
    </AccountLayout>
  );
}

function AskForMail({ onSent }: { onSent: (address: string) => void }) {
  const { auth } = useSupabase();
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const email = textOf(form, 'email').trim();
    const problem = validateEmail(email);
    if (problem) return { kind: 'error', text: problem, field: 'email' };
    const { error } = await auth.resetPasswordForEmail(email, {
      redirectTo: `${location.origin}${ROUTES.resetPassword.path}`,
    });
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    onSent(email);
    return null;
  });

  return (
    <AccountLayout
      title="Forgot your password?"
      lead="Tell us your address. We send a link and a code that set a new one."
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

function NewPassword({ proof }: { proof: Proof }) {
  const { auth } = useSupabase();
  const toast = useToast();
  const navigate = useNavigate();
  return (
    <AccountLayout title="Set a new password">
      <WhosePassword proof={proof} />
      <NewPasswordForm
        auth={proof.auth}
        address={proof.user.email ?? ''}
        onAccepted={async () => {
          toast({ kind: 'success', text: MESSAGES.passwordUpdated });
          // With a session the guard around this screen goes on to the journal.
          const error = await adoptSession(auth, proof);
          if (error) await navigate({ to: ROUTES.login.path, replace: true });
          return null;
        }}
      />
    </AccountLayout>
  );
}

/** Shown while the email address is unconfirmed, after sign-up or sign-in: takes the code and sends the email again. */
import { recoveryMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { AccountLayout } from './account-layout.tsx';
import styles from './account.module.css';

export function CheckYourMail({ address }: { address: string }) {
  const { auth } = useSupabase();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { error } = await auth.resend({ type: 'signup', email: address });
    return error
      ? { kind: 'error', text: recoveryMessage(error) }
      : { kind: 'success', text: 'We sent the email again.' };
  });

  return (
    <AccountLayout
      title="Check your email"
      lead={
        <>
          We sent an email to <strong>{address}</strong>. Open the link in it, or enter the code here.
        </>
      }
      footer={
        <>
          Wrong address? <a href={ROUTES.signup.path}>Start again</a>
        </>
      }
    >
      <CodeForm
        className={styles.form}
        autoFocus
        check={async (token) => {
          // The user typed this address here, so no login CSRF is possible: store the session, and the guard redirects.
          const { error } = await auth.verifyOtp({ email: address, token, type: 'signup' });
          return error ? { error } : { outcome: null };
        }}
      />
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <p>No email? Check your spam folder, or send it again.</p>
        <Button type="submit" busy={busy} busyLabel="Sending...">
          Send Again
        </Button>
        <p>
          Signed up before with another password? <a href={ROUTES.forgotPassword.path}>Reset your password</a>
        </p>
      </form>
    </AccountLayout>
  );
}

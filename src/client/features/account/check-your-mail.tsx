/** After sign-up, where the installation wants the address confirmed: what to do now, and what if nothing comes. */
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
      : { kind: 'success', text: 'The mail is on its way.' };
  });

  return (
    <AccountLayout
      title="Check your e-mail"
      lead={
        <>
          We sent a mail to <strong>{address}</strong>. Open its link, or type its code here.
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
          // The address is the one that was typed here, so its session is stored at once: the guard goes on to the journal.
          const { error } = await auth.verifyOtp({ email: address, token, type: 'signup' });
          return error ? { error } : { outcome: null };
        }}
      />
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <p>Nothing there? Look in your spam folder, or have the mail sent again.</p>
        <Button type="submit" busy={busy} busyLabel="Sending...">
          Send Again
        </Button>
        <p>
          Signed up before with another password? Choose a new one with{' '}
          <a href={ROUTES.forgotPassword.path}>Forgot your password?</a>
        </p>
      </form>
    </AccountLayout>
  );
}

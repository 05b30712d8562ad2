/** Takes the code of a mail that signs in, and sends the mail again. */
import type { ReactNode } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useSupabase, type Auth } from '#client/lib/api/supabase.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { ResendForm } from '#client/ui/form/resend-form.tsx';
import type { WayFrame } from './way-frame.tsx';
import styles from '../sign-in.module.css';

/** Mails a code and a link. The answer does not tell whether the address has an account. */
export const mailCode = (auth: Auth, email: string) =>
  auth.signInWithOtp({
    email,
    // A mistyped address must not create an account.
    options: { shouldCreateUser: false, emailRedirectTo: `${location.origin}${ROUTES.login.path}` },
  });

type MailedCodeProps = {
  frame: WayFrame;
  address: string;
  onRestart: () => void;
  restartLabel: string;
  footer?: ReactNode;
};

export function MailedCode({ frame: Frame, address, onRestart, restartLabel, footer }: MailedCodeProps) {
  const { auth } = useSupabase();
  return (
    <Frame
      title="Check your email"
      lead={
        <>
          If <strong>{address}</strong> has an account, we sent it an email. Enter the code here, or open the link in
          it.
        </>
      }
      footer={footer}
    >
      <CodeForm
        className={styles.form}
        autoFocus
        tone="primary"
        submitLabel="Sign in"
        check={async (token) => {
          // The user entered the code here, so no login CSRF is possible: store the session, and the guard redirects.
          const { error } = await auth.verifyOtp({ email: address, token, type: 'email' });
          if (error) return { error };
          rememberWay('mailCode');
          return { outcome: null };
        }}
      />
      <ResendForm className={styles.form} send={() => mailCode(auth, address)} sentText="We sent the email again.">
        <p>
          No email? Check your spam folder, or{' '}
          <button type="button" className={styles.inline} onClick={onRestart}>
            {restartLabel}
          </button>
          .
        </p>
      </ResendForm>
    </Frame>
  );
}

/** Explains why a mailed link failed, and offers a new one. */
import { Link } from 'wouter';
import { useState, type ReactNode } from 'react';
import { validateEmail } from '#domain/account/account.ts';
import { recoveryMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SignInLayout } from '../sign-in-layout.tsx';
import { EmailField } from '../email-field.tsx';
import { mailCode, MailedCode } from '../ways/mailed-code.tsx';
import styles from '../sign-in.module.css';

type BrokenLinkProps = {
  text: string;
  /** A link that was to change the address: only a signed-in user can request another one. */
  isAddressChange: boolean;
  onContinue: () => void;
};

export function BrokenLink({ text, isAddressChange, onContinue }: BrokenLinkProps) {
  const { user } = useSession();
  const { mailCodes } = useClientConfig().signIn;
  if (!user && !isAddressChange && mailCodes) return <NewLink text={text} onContinue={onContinue} />;
  return (
    <SignInLayout title="This link does not work">
      <div className={styles.notice}>
        <Notice kind="error">{text}</Notice>
        {user && (
          <p>
            You are signed in as <strong>{user.email}</strong>. If the link was to change your email address, save the
            change again in your{' '}
            <Link to={ROUTES.profile.path} onClick={clearAuthLink}>
              profile
            </Link>
            .
          </p>
        )}
        {!user && isAddressChange && <p>To get a new link, sign in and save the change again in your profile.</p>}
        {!user && !isAddressChange && <PasswordReset>To reset your password,</PasswordReset>}
        <Button onClick={onContinue}>{user ? 'Open your journal' : 'Sign in'}</Button>
      </div>
    </SignInLayout>
  );
}

function PasswordReset({ children }: { children: ReactNode }) {
  return (
    <p>
      {children}{' '}
      <Link to={ROUTES.forgotPassword.path} onClick={clearAuthLink}>
        request a new link
      </Link>
      .
    </p>
  );
}

/** Mails a new link that signs in. For an unconfirmed address, the link confirms the address too. */
function NewLink({ text, onContinue }: Omit<BrokenLinkProps, 'isAddressChange'>) {
  const { auth } = useSupabase();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const email = textOf(form, 'email').trim();
    const problem = validateEmail(email);
    if (problem) return { kind: 'error', text: problem, field: 'email' };
    const { error } = await mailCode(auth, email);
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    // Once the mailed code has signed the user in, the guard must redirect instead of showing this link again.
    clearAuthLink();
    setSentTo(email);
    return null;
  });

  if (sentTo !== null) {
    return (
      <MailedCode
        frame={SignInLayout}
        address={sentTo}
        onRestart={() => setSentTo(null)}
        restartLabel="use another address"
      />
    );
  }
  return (
    <SignInLayout
      title="This link does not work"
      footer={
        <button type="button" className={styles.inline} onClick={onContinue}>
          Sign in another way
        </button>
      }
    >
      <div className={styles.notice}>
        <Notice kind="error">{text}</Notice>
        <p>A link works once, and for an hour. We can email you a new one that signs you in.</p>
      </div>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <EmailField error={errorOf('email')} />
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Sending...">
          Email me a new link
        </Button>
      </form>
      <div className={styles.under}>
        <PasswordReset>Did the link reset your password? Then</PasswordReset>
      </div>
    </SignInLayout>
  );
}

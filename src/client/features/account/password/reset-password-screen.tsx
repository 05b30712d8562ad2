/** Set a new password, from a recovery link or while signed in. It names the account whose password is set. */
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { AccountLayout } from '../account-layout.tsx';
import type { MailLink } from '../link/mail-link.ts';
import { NewPasswordForm } from './new-password-form.tsx';
import { RecoveryCodeForm } from './recovery-code-form.tsx';
import { SignedInAs } from '../signed-in-as.tsx';
import { useArrivedLink } from '../link/use-arrived-link.ts';
import { adoptSession, useProof } from '../link/use-proof.ts';
import type { Proof } from '../link/use-proof.ts';
import { WhosePassword } from './whose-password.tsx';
import styles from '../account.module.css';

const REDIRECT_MS = 2_000;
const TITLE = 'Set a new password';

export function ResetPasswordScreen() {
  const { auth } = useSupabase();
  const { status, user, expired } = useSession();
  const { link } = useArrivedLink();
  const [isDone, setDone] = useState(false);
  /** Proven by the code of the mail instead of its link. */
  const [typed, setTyped] = useState<Proof | null>(null);
  const finish = async (): Promise<Outcome> => {
    clearAuthLink();
    setDone(true);
    return null;
  };

  if (isDone) return <Done />;
  // Not before it is known who is signed in: both accounts have to be named.
  if (status === 'loading') return <Checking />;
  if (typed) return <ProvenReset proof={typed} onDone={finish} />;
  if (link) return <WithLink link={link} onDone={finish} onProven={setTyped} />;
  if (!user || expired) return <InvalidLink onProven={setTyped} />;
  return (
    <AccountLayout title={TITLE}>
      <SignedInAs />
      <NewPasswordForm auth={auth} address={user.email ?? ''} onAccepted={finish} />
    </AccountLayout>
  );
}

type ResetProps = { onDone: () => Promise<Outcome>; onProven: (proof: Proof) => void };

function WithLink({ link, onDone, onProven }: ResetProps & { link: MailLink }) {
  const state = useProof(link);
  switch (state.step) {
    case 'checking':
      return <Checking />;
    case 'waiting':
      return <OpenLink onOpen={state.open} />;
    case 'refused':
    case 'halfDone':
      return <InvalidLink onProven={onProven} />;
    case 'proven':
      return <ProvenReset proof={state.proof} onDone={onDone} />;
  }
}

function ProvenReset({ proof, onDone }: Pick<ResetProps, 'onDone'> & { proof: Proof }) {
  const { auth } = useSupabase();
  const { user } = useSession();
  const accept = async (): Promise<Outcome> => {
    // The password counts already. Should the session not be stored, the next screen asks for it.
    await adoptSession(auth, proof);
    return onDone();
  };
  return (
    <AccountLayout title={TITLE}>
      <WhosePassword proof={proof} />
      {user && user.id !== proof.user.id && (
        <p className={styles.lead}>
          You are signed in as <strong>{user.email}</strong>. Once the password is set, you are signed in to the other
          account instead.
        </p>
      )}
      <NewPasswordForm auth={proof.auth} address={proof.user.email ?? ''} onAccepted={accept} />
    </AccountLayout>
  );
}

function Checking() {
  return <AccountLayout title={TITLE} lead="Checking your link..." />;
}

function OpenLink({ onOpen }: { onOpen: () => Promise<Outcome> }) {
  const { outcome, busy, onSubmit } = useSubmit(() => onOpen());
  return (
    <AccountLayout title={TITLE} lead="Continue to choose a new password. The next page shows which account it is for.">
      <SignedInAs />
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <Button className={styles.submit} tone="primary" type="submit" busy={busy} busyLabel="Checking your link...">
          Continue
        </Button>
      </form>
    </AccountLayout>
  );
}

function InvalidLink({ onProven }: Pick<ResetProps, 'onProven'>) {
  return (
    <AccountLayout title={TITLE} footer={<Link to={ROUTES.login.path}>Back to Login</Link>}>
      <div className={styles.notice}>
        <Notice kind="error">{MESSAGES.resetLinkInvalid}</Notice>
        <p>
          A link works once, within the hour. If you only reloaded this page, open the link in your mail again.
          Otherwise,{' '}
          <Link to={ROUTES.forgotPassword.path} onClick={clearAuthLink}>
            request a new link
          </Link>
          .
        </p>
        <p>Or type the code from the mail.</p>
      </div>
      <RecoveryCodeForm onProven={onProven} />
    </AccountLayout>
  );
}

function Done() {
  const router = useRouter();
  useEffect(() => {
    const timer = setTimeout(() => router.history.replace(ROUTES.journal.path), REDIRECT_MS);
    return () => clearTimeout(timer);
  }, [router]);
  return (
    <AccountLayout title={TITLE}>
      <div className={styles.notice}>
        <Notice kind="success">{MESSAGES.passwordUpdated}</Notice>
      </div>
    </AccountLayout>
  );
}

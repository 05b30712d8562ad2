/** Sets a new password, from a recovery link or while signed in, and names the account. */
import { useEffect, useState } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link, useNavigate } from '#client/lib/navigation.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Notice } from '#client/ui/notice.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { Lead, SignInLayout, SignedInAs } from '../sign-in-layout.tsx';
import { useArrivedLink, type MailLink } from '../link/arrived-link.ts';
import { NewPassword, NewPasswordForm, RecoveryCodeForm } from './new-password.tsx';
import { useAdoptSession, useLinkVerification, type VerifiedAccount } from '../link/use-link-verification.ts';

const REDIRECT_MS = 2_000;
const TITLE = 'Set a new password';

/**
 * The screen after a reset. `otherUser`: the session could not be stored, and somebody else is signed in to this
 * browser.
 */
type Next = 'journal' | 'otherUser';

export function ResetPasswordScreen() {
  const auth = useAuth();
  const { status, user, expired } = useSession();
  const { link } = useArrivedLink();
  const [next, setNext] = useState<Next | null>(null);
  const [codeAccount, setCodeAccount] = useState<VerifiedAccount | null>(null);
  const finish = async (reached: Next): Promise<Outcome> => {
    clearAuthLink();
    setNext(reached);
    return null;
  };

  if (next === 'otherUser') return <StillOtherUser />;
  if (next) return <Done />;
  // Wait for the session: the screen names the signed-in account as well.
  if (status === 'loading') return <Checking />;
  if (codeAccount) return <VerifiedReset account={codeAccount} onDone={finish} />;
  if (link && 'type' in link && link.type === 'recovery')
    return <WithLink link={link} onDone={finish} onVerified={setCodeAccount} />;
  // Any other link, also a return from a provider, cannot set a password.
  if (link || !user || expired) return <InvalidLink onVerified={setCodeAccount} />;
  return (
    <SignInLayout title={TITLE}>
      <SignedInAs />
      <NewPasswordForm auth={auth} address={user.email ?? ''} onAccepted={() => finish('journal')} />
    </SignInLayout>
  );
}

type ResetProps = { onDone: (next: Next) => Promise<Outcome>; onVerified: (account: VerifiedAccount) => void };

function WithLink({ link, onDone, onVerified }: ResetProps & { link: MailLink }) {
  const state = useLinkVerification(link);
  switch (state.step) {
    case 'checking':
      return <Checking />;
    case 'awaitingClick':
      return <OpenLink onOpen={state.open} />;
    case 'rejected':
    case 'firstConfirmed':
      return <InvalidLink onVerified={onVerified} />;
    case 'verified':
      return <VerifiedReset account={state.account} onDone={onDone} />;
  }
}

function VerifiedReset({ account, onDone }: Pick<ResetProps, 'onDone'> & { account: VerifiedAccount }) {
  const adoptSession = useAdoptSession();
  const { user } = useSession();
  const isOtherUser = user !== null && user.id !== account.user.id;
  const accept = async (): Promise<Outcome> => {
    // The form shows no error: the password is changed already. Without a session, the journal asks to sign in.
    const error = await adoptSession(account);
    return onDone(error && isOtherUser ? 'otherUser' : 'journal');
  };
  return (
    <SignInLayout title={TITLE}>
      <NewPassword
        account={account}
        note={
          isOtherUser && (
            <Lead>
              You are signed in as <strong>{user.email}</strong>. After you set the password, you will be signed in to
              the other account instead.
            </Lead>
          )
        }
        onAccepted={accept}
      />
    </SignInLayout>
  );
}

function Checking() {
  return <SignInLayout title={TITLE} lead="Checking your link..." />;
}

function OpenLink({ onOpen }: { onOpen: () => Promise<Outcome> }) {
  const { outcome, busy, onSubmit } = useSubmit(() => onOpen());
  return (
    <SignInLayout title={TITLE} lead="Continue to choose a new password. The next page shows which account it is for.">
      <SignedInAs />
      <Form layout="page" outcome={outcome} onSubmit={onSubmit}>
        <SubmitButton layout="page" busy={busy} busyLabel="Checking your link...">
          Continue
        </SubmitButton>
      </Form>
    </SignInLayout>
  );
}

function InvalidLink({ onVerified }: Pick<ResetProps, 'onVerified'>) {
  const { user, expired } = useSession();
  const isSignedIn = user !== null && !expired;
  return (
    <SignInLayout
      title={TITLE}
      footer={
        isSignedIn ? (
          <Link to={ROUTES.journal.path} onClick={clearAuthLink}>
            Back to the journal
          </Link>
        ) : (
          <Link to={ROUTES.login.path}>Back to Login</Link>
        )
      }
    >
      <Stack above="s6" stretch>
        <Notice kind="error">{MESSAGES.resetLinkInvalid}</Notice>
        <p>
          A link works once and expires after one hour. If you only reloaded this page, open the link in your email
          again.{' '}
          {!isSignedIn && (
            <>
              Otherwise,{' '}
              <Link to={ROUTES.forgotPassword.path} onClick={clearAuthLink}>
                request a new link
              </Link>
              .
            </>
          )}
        </p>
        {/* A signed-in user gets no link to a guests' screen, which would redirect to the journal. */}
        {isSignedIn && (
          <p>
            You are signed in as <strong>{user.email}</strong>.{' '}
            <Link to={ROUTES.profile.path} onClick={clearAuthLink}>
              Change your password
            </Link>{' '}
            in your profile.
          </p>
        )}
        <p>
          {isSignedIn
            ? 'To reset the password of another account, enter its address and the code from the email.'
            : 'You can also enter the code from the email.'}
        </p>
      </Stack>
      <RecoveryCodeForm onVerified={onVerified} />
    </SignInLayout>
  );
}

/** Threat: without this screen the other user's journal opens, and the owner of the new password writes into it. */
function StillOtherUser() {
  return (
    <SignInLayout title={TITLE} footer={<Link to={ROUTES.journal.path}>Back to the journal</Link>}>
      <Stack above="s6" stretch>
        <Notice kind="success">{MESSAGES.passwordUpdated}</Notice>
        <SignedInAs />
        <p>You could not be signed in to the other account. Sign out first, then sign in with the new password.</p>
      </Stack>
    </SignInLayout>
  );
}

function Done() {
  const navigate = useNavigate();
  useEffect(() => {
    const timer = setTimeout(() => void navigate(ROUTES.journal.path, { replace: true }), REDIRECT_MS);
    return () => clearTimeout(timer);
  }, [navigate]);
  return (
    <SignInLayout title={TITLE}>
      <Stack above="s6" stretch>
        <Notice kind="success">{MESSAGES.passwordUpdated}</Notice>
      </Stack>
    </SignInLayout>
  );
}

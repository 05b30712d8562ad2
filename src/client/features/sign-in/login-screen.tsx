/** The sign-in form. Also handles mailed links (confirm an address, sign in) and the return from a provider. */
import { Suspense, useId, useRef, useState } from 'react';
import { MESSAGES, recoveryMessage, signInMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link, pageState } from '#client/lib/navigation.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useRestoreCount } from '#client/lib/hooks/use-restore-count.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { InlineButton } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { lazyChunk } from '#client/ui/lazy-chunk.ts';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { SignInLayout } from './sign-in-layout.tsx';
import { LoginFields } from './account-fields.tsx';
import { useArrivedLink } from './link/arrived-link.ts';
import { SignInWays, WayFormView, type WayForm } from './ways/sign-in-ways.tsx';

const checkYourMail = lazyChunk(async () => (await import('./check-your-mail.tsx')).CheckYourMail);
const providerReturn = lazyChunk(async () => (await import('./link/provider-return.tsx')).ProviderReturn);
const confirmLink = lazyChunk(async () => (await import('./link/confirm-link.tsx')).ConfirmLink);

export function LoginScreen() {
  const { link, drop } = useArrivedLink();
  // Resets the form on a page that the back button restores, which would still show "Redirecting...".
  const restoreCount = useRestoreCount();
  if (!link) return <LoginForm key={restoreCount} />;
  return (
    <Suspense fallback={<SignInLayout title="Sign in" lead="Checking your link..." />}>
      {link.kind === 'code' || link.kind === 'providerError' ? (
        <providerReturn.LoadingView arrived={link} onDrop={drop} />
      ) : (
        <confirmLink.LoadingView link={link} onDrop={drop} />
      )}
    </Suspense>
  );
}

function LoginForm() {
  const auth = useAuth();
  const { signIn } = useClientConfig();
  const state = pageState();
  const attemptedEmail = useRef('');
  const confirmationForm = useId();
  const [unconfirmed, setUnconfirmed] = useState<string | null>(null);
  const [way, setWay] = useState<WayForm | null>(null);
  const confirmation = useSubmit(async () => {
    const { error } = await auth.resend({ type: 'signup', email: attemptedEmail.current });
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    setUnconfirmed(attemptedEmail.current);
    return null;
  });
  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    const email = textOf(form, 'email').trim();
    attemptedEmail.current = email;
    const { error } = await auth.signInWithPassword({ email, password: textOf(form, 'password') });
    // On success the route guard sees the session and redirects.
    if (error) return { kind: 'error', text: signInMessage(error) };
    rememberWay('password');
    return null;
  });

  if (unconfirmed !== null) {
    return (
      <Suspense fallback={<SignInLayout title="Check your email" />}>
        <checkYourMail.LoadingView address={unconfirmed} />
      </Suspense>
    );
  }
  if (way) {
    return <WayFormView form={way} frame={SignInLayout} returnPath={state.from} onBack={() => setWay(null)} />;
  }
  return (
    <SignInLayout
      title="Sign in"
      footer={
        signIn.signups ? (
          <>
            New here?{' '}
            <Link to={ROUTES.signup.path} state={state}>
              Create an account
            </Link>
          </>
        ) : (
          'New accounts are closed here.'
        )
      }
    >
      <form id={confirmationForm} onSubmit={confirmation.onSubmit} />
      <Form layout="page" onSubmit={onSubmit}>
        {outcome && (
          <Notice kind={outcome.kind}>
            {outcome.text}
            {outcome.text === MESSAGES.invalidCredentials && signIn.signups && (
              <>
                {' '}
                <Link to={ROUTES.signup.path} state={state}>
                  Sign up here
                </Link>
              </>
            )}
            {/* Confirmation links expire after an hour, so offer another one here. */}
            {outcome.text === MESSAGES.emailNotConfirmed && (
              <>
                {' '}
                <InlineButton type="submit" form={confirmationForm}>
                  {confirmation.busy ? 'Sending...' : 'Send a new link'}
                </InlineButton>
              </>
            )}
            {confirmation.outcome && <p>{confirmation.outcome.text}</p>}
          </Notice>
        )}
        <LoginFields
          hasPasskeys={signIn.passkeys}
          forgot={<Link to={ROUTES.forgotPassword.path}>Forgot your password?</Link>}
        />
        <SubmitButton layout="page" busy={busy} busyLabel="Signing in...">
          Sign in
        </SubmitButton>
      </Form>
      <SignInWays onOpen={setWay} returnPath={state.from} />
    </SignInLayout>
  );
}

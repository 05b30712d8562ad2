/** Creates an account. If the address must be confirmed, it ends with "Check your email". */
import { useState } from 'react';
import { passwordMessage, validateSignUp } from '#domain/account/account.ts';
import { providerMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link, pageState } from '#client/lib/navigation.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useRestoreCount } from '#client/lib/hooks/use-restore-count.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Notice } from '#client/ui/notice.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { SignInLayout } from './sign-in-layout.tsx';
import { CheckYourMail } from './check-your-mail.tsx';
import { SignupFields } from './account-fields.tsx';
import { ProviderWays } from './ways/sign-in-ways.tsx';

export function SignupScreen() {
  const { signups } = useClientConfig().signIn;
  return signups ? <SignupForm /> : <SignupsClosed />;
}

function SignupsClosed() {
  return (
    <SignInLayout
      title="New accounts are closed"
      lead="Nobody can create an account here at the moment. If you already have one, sign in."
      footer={<Link to={ROUTES.login.path}>Sign in</Link>}
    />
  );
}

function SignupForm() {
  const auth = useAuth();
  const [acceptsTerms, setAcceptsTerms] = useState(false);
  const restoreCount = useRestoreCount();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const state = pageState();

  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const email = textOf(form, 'email').trim();
    const password = textOf(form, 'password');
    const problem = validateSignUp({ password, acceptsTerms });
    if (problem) return { kind: 'error', text: problem, ...(acceptsTerms ? { field: 'password' } : {}) };
    const { data, error } = await auth.signUp({
      email,
      password,
      options: { data: { name: textOf(form, 'name').trim() } },
    });
    if (error) return { kind: 'error', text: passwordMessage(error, providerMessage) };
    // With a session the route guard redirects to the journal.
    if (!data.session) setSentTo(email);
    return null;
  });

  if (sentTo !== null) return <CheckYourMail address={sentTo} />;
  return (
    <SignInLayout
      title="Create your account"
      footer={
        <>
          Already have an account?{' '}
          <Link to={ROUTES.login.path} state={state}>
            Sign in
          </Link>
        </>
      }
    >
      <Form layout="page" onSubmit={onSubmit}>
        {/* The form's default button: Enter reports what is missing while the visible button is disabled. */}
        <button type="submit" hidden aria-label="Create account" />
        {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <SignupFields
          passwordProblem={errorOf('password')}
          terms={{ isAccepted: acceptsTerms, onChange: setAcceptsTerms }}
        />
        <SubmitButton layout="page" disabled={!acceptsTerms} busy={busy} busyLabel="Creating account...">
          Create account
        </SubmitButton>
      </Form>
      <ProviderWays key={restoreCount} returnPath={state.from} />
    </SignInLayout>
  );
}

/**
 * Finishes a sign-in at a provider that this browser has started (docs/specification/accounts.md 15). The screen asks
 * for no click: the PKCE verifier in this browser proves that the sign-in was started here.
 */
import { useEffect, useRef, useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { createPkceAuth, RETURN_PATH_KEY } from '#client/lib/api/pkce-auth.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { hasUndoneDeletion, useWelcome } from '#client/ui/use-welcome-back.ts';
import { useToast } from '#client/ui/toast.tsx';
import { SECURITY_HASH } from '#client/ui/second-step/recovery-notice.ts';
import { Form } from '#client/ui/form/form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { SignInLayout } from '../sign-in-layout.tsx';
import type { ProviderReturn as Arrived } from './arrived-link.ts';
import { signInAtProvider } from '../ways/provider-sign-in.ts';

type ProviderReturnProps = {
  arrived: Arrived;
  /** Drops the provider's parameters, which the URL no longer has, and shows the sign-in form. */
  onDrop: () => void;
};

export function ProviderReturn({ arrived, onDrop }: ProviderReturnProps) {
  const { providers } = useClientConfig().signIn;
  // Threat: anyone can write a link, so a name from the address is shown only if it is one of ours.
  const provider = providers.find(({ name }) => name === arrived.provider);
  const label = provider?.label ?? 'your provider';
  const state = useFinishedFlow(arrived, label, onDrop);
  const { user } = useSession();
  const navigate = useNavigate();
  const isLink = arrived.flow === 'link';

  if (state === 'working') return <SignInLayout title="Sign in" lead={`Checking your sign-in with ${label}...`} />;
  if (state === 'done') {
    return (
      <SignInLayout title="You are signed in">
        <Stack above="s6" stretch>
          <Notice kind="success">Close this tab and go on where you left off.</Notice>
          <Button onClick={() => location.assign(ROUTES.journal.path)}>Open your journal here</Button>
        </Stack>
      </SignInLayout>
    );
  }
  const openPage = async (path: typeof ROUTES.journal.path | typeof ROUTES.profile.path): Promise<void> => {
    await navigate(isLink ? path + SECURITY_HASH : path, { replace: true });
    onDrop();
  };
  return (
    <SignInLayout title={isLink ? 'Nothing was linked' : 'You are not signed in yet'}>
      <Stack above="s6" stretch>
        <Notice kind="error">{providerReturnMessage(state.failed, label, isLink)}</Notice>
        {isLink && user && <Button onClick={() => void openPage(ROUTES.profile.path)}>Back to your profile</Button>}
        {!isLink && user && <Button onClick={() => void openPage(ROUTES.journal.path)}>Open your journal</Button>}
        {!user && provider && <TryAgain provider={provider.name} label={provider.label} />}
        {!user && <Button onClick={onDrop}>Sign in another way</Button>}
      </Stack>
    </SignInLayout>
  );
}

function TryAgain({ provider, label }: { provider: string; label: string }) {
  const config = useClientConfig();
  const { outcome, busy, onSubmit } = useSubmit(async () =>
    signInAtProvider(config, provider, sessionStorage.getItem(RETURN_PATH_KEY) ?? undefined),
  );
  return (
    <Form layout="page" outcome={outcome} onSubmit={onSubmit}>
      <Button tone="primary" type="submit" busy={busy} busyLabel="Redirecting...">
        Try again with {label}
      </Button>
    </Form>
  );
}

type FlowState = 'working' | 'done' | { failed: string | undefined };

function useFinishedFlow(arrived: Arrived, label: string, onDrop: () => void): FlowState {
  const config = useClientConfig();
  const auth = useAuth();
  const { status, user, expired } = useSession();
  const navigate = useNavigate();
  const toast = useToast();
  const welcome = useWelcome();
  const [state, setState] = useState<FlowState>(arrived.kind === 'code' ? 'working' : { failed: arrived.code });
  const isStarted = useRef(false);

  const finish = async (): Promise<void> => {
    if (arrived.kind !== 'code') return;
    const flowAuth = createPkceAuth(config);
    const { data, error } = await flowAuth.exchangeCodeForSession(
      arrived.code,
      arrived.flowId === null ? {} : { flowId: arrived.flowId },
    );
    if (error) return setState({ failed: error.code ?? error.name });
    if (arrived.flow === 'link') {
      // The page keeps its own session. The flow's session is ended, because it has passed no second step.
      await flowAuth.signOut({ scope: 'local' });
      await auth.refreshSession();
      toast({ kind: 'success', text: `You can now sign in with ${label}.` });
      await navigate(ROUTES.profile.path + SECURITY_HASH, { replace: true });
      return onDrop();
    }
    if (arrived.flow === 'signIn') {
      const from = sessionStorage.getItem(RETURN_PATH_KEY) ?? ROUTES.journal.path;
      sessionStorage.removeItem(RETURN_PATH_KEY);
      // The page's guard sees the new session, asks for the second step and goes on to `from`.
      await navigate(ROUTES.login.path, { replace: true, state: { from } });
      clearAuthLink();
      // The guard sees no change if another tab has already signed the same user in, so redirect here.
      if (user?.id === data.user.id && !expired) await navigate(from, { replace: true });
    }
    const adopted = await auth.setSession(data.session);
    if (adopted.error) return setState({ failed: adopted.error.code ?? adopted.error.name });
    rememberWay(arrived.provider ? `provider:${arrived.provider}` : 'sso');
    welcome(hasUndoneDeletion(data.session));
    if (arrived.flow === 'tab') setState('done');
  };

  useEffect(() => {
    // Waits for the page's session, which linking needs. Runs once, because a code works once.
    if (status === 'loading' || isStarted.current) return;
    isStarted.current = true;
    void finish().catch(() => setState({ failed: 'unexpected' }));
  });

  return state;
}

const TOO_LATE = 'This took too long, or the page was opened twice. Please try again.';
const ELSEWHERE = 'This sign-in was started in another browser or has expired. Please start again here.';

const FAILURES: Readonly<Record<string, (label: string, isLink: boolean) => string>> = {
  access_denied: (label) => `You did not finish signing in with ${label}. Nothing has changed.`,
  identity_already_exists: (label, isLink) =>
    isLink
      ? `This account at ${label} already opens another account here.`
      : `This account at ${label} is linked to another account.`,
  signup_disabled: (label) => `No account here belongs to this sign-in with ${label}, and new accounts are closed.`,
  user_banned: () => 'This account is suspended.',
  provider_email_needs_verification: (label) =>
    `${label} has not confirmed your email address. We sent you an email: open its link, then sign in again.`,
  bad_oauth_state: () => TOO_LATE,
  bad_oauth_callback: () => TOO_LATE,
  flow_state_already_used: () => TOO_LATE,
  flow_state_expired: () => TOO_LATE,
  flow_state_not_found: () => TOO_LATE,
  bad_code_verifier: () => ELSEWHERE,
  // The codes of auth-js if no PKCE verifier is stored in this browser.
  pkce_code_verifier_not_found: () => ELSEWHERE,
  AuthPKCECodeVerifierMissingError: () => ELSEWHERE,
  temporarily_unavailable: (label) => `We could not reach ${label}. Please try again in a few minutes.`,
  AuthRetryableFetchError: () => 'We could not reach the server. Please try again in a few minutes.',
};

/** `code` comes from the URL or from the auth client. Threat: anyone can write a URL, so its text is never shown. */
function providerReturnMessage(code: string | undefined, label: string, isLink: boolean): string {
  const message = Object.hasOwn(FAILURES, code ?? '') ? FAILURES[code ?? ''] : undefined;
  return message?.(label, isLink) ?? `Something went wrong between us and ${label}. Please try again.`;
}

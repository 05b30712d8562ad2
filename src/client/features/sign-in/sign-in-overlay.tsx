/**
 * An overlay that asks to sign in again when the session has expired, first in the way that this browser used last. The
 * page below stays mounted, so no text is lost, even if the user has to reset the password here.
 */
import { useState } from 'react';
import { MESSAGES, recoveryMessage, signInMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { rememberWay, readLastWay, hasKnownPasskeys, type Way } from '#client/lib/session/last-way.ts';
import { useSession, useUser, ssoProviderOf, isSsoUser } from '#client/lib/session/session.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useSupabase, useClientConfig } from '#client/lib/api/supabase.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button, InlineButton } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useWelcomeBack } from '#client/ui/use-welcome-back.ts';
import { SignOutDialog } from '#client/ui/sign-out-dialog.tsx';
import { SecondStep } from '#client/ui/second-step/second-step.tsx';
import { useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { CurrentPasswordField, EmailField } from './account-fields.tsx';
import { NewPassword, RecoveryCodeForm } from './password/new-password.tsx';
import { useAdoptSession, type VerifiedAccount } from './link/use-link-verification.ts';
import { WAY_FORMS, WAY_LABELS, Ways, PasskeyButton } from './ways/sign-in-ways.tsx';
import { Lead, type WayFrame } from './sign-in-layout.tsx';
import { signInInOtherTab } from './ways/provider-sign-in.ts';
import type { User } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';

export function SignInOverlay() {
  const auth = useAuth();
  const { secondStepUser } = useSession();
  useWelcomeBack();

  return (
    <Dialog title="Sign in again" dismissible={false} onClose={() => undefined}>
      {secondStepUser && (
        <>
          <Lead>
            One more step to sign in as <strong>{secondStepUser.email}</strong>.
          </Lead>
          <Stack above="s6" stretch>
            <SecondStep auth={auth} user={secondStepUser}>
              {/* Ends the session of the first step, so the overlay shows the first step again. */}
              <Button tone="text" onClick={() => void auth.signOut({ scope: 'local' })}>
                Back
              </Button>
            </SecondStep>
          </Stack>
        </>
      )}
      {!secondStepUser && <FirstStep />}
    </Dialog>
  );
}

/** The first step: one of the account's ways to sign in, or a new password after a mailed code. */
function FirstStep() {
  const adoptSession = useAdoptSession();
  const user = useUser();
  const email = user.email ?? '';
  const ways = useAccountWays();
  const start = ways[0] === 'password' ? 'password' : 'ways';
  const [step, setStep] = useState<'ways' | 'password' | 'code' | OverlayForm | VerifiedAccount>(start);
  const back = (): void => setStep(start);
  const FormView = step === 'mailCode' || step === 'phoneCode' || step === 'wallet' ? WAY_FORMS[step].View : null;

  return (
    <>
      {step === 'ways' && <WaysStep ways={ways} onOpen={setStep} />}
      {step === 'password' && (
        <PasswordStep
          others={ways.filter((way) => way !== 'password')}
          onSent={() => setStep('code')}
          onOpen={setStep}
        />
      )}
      {FormView && (
        <FormView
          frame={OverlayFrame}
          address={email}
          phone={user.phone ? `+${user.phone}` : undefined}
          onBack={back}
        />
      )}
      {step === 'code' && <CodeStep onVerified={setStep} onBack={back} />}
      {typeof step === 'object' && (
        <NewPassword
          account={step}
          onAccepted={async () => {
            // A stored session closes the overlay.
            const error = await adoptSession(step);
            if (error) back();
            return null;
          }}
          requestAgain={<InlineButton onClick={back}>Start again</InlineButton>}
        />
      )}
    </>
  );
}

/** The overlay keeps its own heading, so the title is not shown. */
const OverlayFrame: WayFrame = ({ lead, children, footer }) => (
  <>
    {lead && <Lead>{lead}</Lead>}
    {children}
    {footer && (
      <Stack gap="s2" above="s4" stretch>
        {footer}
      </Stack>
    )}
  </>
);

const NO_WAY =
  'Your session has ended, and this account has no way to sign in again. Copy your text before you leave this page.';
const SESSION_ENDED = 'Your session has ended. Your text is still here and will be saved when you sign in.';

type OnOpen = (form: OverlayForm | 'password') => void;

/** Lists the account's ways to sign in if the password is not the first of them, or says that it has no way. */
function WaysStep({ ways, onOpen }: { ways: readonly Way[]; onOpen: OnOpen }) {
  const { email } = useUser();
  const [first, ...others] = ways;
  return (
    <>
      <Lead>{first === undefined ? NO_WAY : SESSION_ENDED}</Lead>
      <Stack above="s6" stretch>
        {email && <EmailField value={email} readOnly />}
        {first !== undefined && <WayButton way={first} isFirst onOpen={onOpen} />}
      </Stack>
      <OtherWays ways={others} onOpen={onOpen} />
      <Stack gap="s2" above="s4" stretch>
        <LeaveButton />
      </Stack>
    </>
  );
}

function OtherWays({ ways, onOpen }: { ways: readonly Way[]; onOpen: OnOpen }) {
  if (ways.length === 0) return null;
  return (
    <Ways>
      {ways.map((way) => (
        <WayButton key={way} way={way} onOpen={onOpen} />
      ))}
    </Ways>
  );
}

function LeaveButton() {
  const signingOut = useSignOut();
  return (
    <>
      <Button tone="text" onClick={() => signingOut.start('local')}>
        Sign out and leave this page
      </Button>
      <SignOutDialog signingOut={signingOut} />
    </>
  );
}

type PasswordStepProps = { others: readonly Way[]; onSent: () => void; onOpen: OnOpen };

function PasswordStep({ others, onSent, onOpen }: PasswordStepProps) {
  const auth = useAuth();
  const email = useUser().email ?? '';
  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    // A new session closes the overlay.
    const { error } = await auth.signInWithPassword({ email, password: textOf(form, 'password') });
    if (error) return { kind: 'error', text: signInMessage(error) };
    rememberWay('password');
    return null;
  });
  const recovery = useSubmit(async () => {
    const { error } = await auth.resetPasswordForEmail(email, {
      redirectTo: `${location.origin}${ROUTES.resetPassword.path}`,
    });
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    onSent();
    return null;
  });

  return (
    <>
      <Lead>{SESSION_ENDED}</Lead>
      <Form layout="page" outcome={outcome} onSubmit={onSubmit}>
        <EmailField value={email} readOnly />
        <CurrentPasswordField autoFocus data-autofocus />
        <SubmitButton layout="page" busy={busy} busyLabel="Signing in...">
          Sign in
        </SubmitButton>
      </Form>
      <OtherWays ways={others} onOpen={onOpen} />
      <Stack gap="s2" above="s4" stretch>
        <Form layout="dialog" gap="s3" outcome={recovery.outcome} onSubmit={recovery.onSubmit}>
          <SubmitButton tone="text" busy={recovery.busy} busyLabel="Sending...">
            Forgot your password?
          </SubmitButton>
        </Form>
        <LeaveButton />
      </Stack>
    </>
  );
}

function CodeStep({ onVerified, onBack }: { onVerified: (account: VerifiedAccount) => void; onBack: () => void }) {
  const email = useUser().email ?? '';
  return (
    <>
      <Stack above="s6" stretch>
        <Notice kind="success">{MESSAGES.resetMailSent}</Notice>
        <p>
          Enter the code that we sent to <strong>{email}</strong>, or open the link in another tab of this browser. Your
          text stays on this page.
        </p>
      </Stack>
      <RecoveryCodeForm address={email} onVerified={onVerified} />
      <Stack gap="s2" above="s4" stretch>
        <Button tone="text" onClick={onBack}>
          Back
        </Button>
      </Stack>
    </>
  );
}

type OverlayForm = keyof typeof WAY_FORMS;

/** The account's ways to sign in, the one to offer first at the front. */
function useAccountWays(): readonly Way[] {
  const { signIn } = useClientConfig();
  const user = useUser();
  return accountWays(user, { signIn, lastWay: readLastWay(), hasPasskeys: hasKnownPasskeys(user.id) });
}

type WayButtonProps = {
  way: Way;
  /** Whether `way` is the one to offer first. */
  isFirst?: boolean;
  onOpen: (form: OverlayForm | 'password') => void;
};

/** Signs in again to the account whose session has expired, and keeps the page open. */
function WayButton({ way, isFirst = false, onOpen }: WayButtonProps) {
  const { providers } = useClientConfig().signIn;
  const sso = ssoProviderOf(useUser());
  const openChunk = useOpenChunk();
  const looks = { tone: isFirst ? 'primary' : 'plain', 'data-autofocus': isFirst || undefined } as const;
  switch (way) {
    case 'password':
      return <Button onClick={() => onOpen('password')}>Use your password</Button>;
    case 'passkey':
      return <PasskeyButton hasAutofill={false} isFirst={isFirst} />;
    case 'mailCode':
    case 'phoneCode':
    case 'wallet':
      return (
        <Button {...looks} onClick={() => openChunk(WAY_FORMS[way], () => onOpen(way))}>
          {WAY_LABELS[way]}
        </Button>
      );
    case 'sso':
      return <OtherTabButton name={sso ?? ''} label="single sign-on" looks={looks} />;
    default: {
      const name = way.slice('provider:'.length);
      const label = providers.find((provider) => provider.name === name)?.label ?? name;
      return <OtherTabButton name={name} label={label} looks={looks} />;
    }
  }
}

const TEXTS = {
  opened: (label: string) => `Sign in with ${label} in the new tab, then come back here.`,
  blocked: () => 'Your browser blocked the new tab. Allow it, and try again.',
  failed: () => 'Something went wrong between us and your provider. Please try again.',
};

type OtherTabButtonProps = { name: string; label: string; looks: { tone: 'primary' | 'plain' } };

/** Opens the provider in another tab, because leaving the page could lose unsaved text. */
function OtherTabButton({ name, label, looks }: OtherTabButtonProps) {
  const config = useClientConfig();
  const { authFetch } = useSupabase();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const result = await signInInOtherTab(config, authFetch, name);
    return { kind: result === 'opened' ? 'success' : 'error', text: TEXTS[result](label) };
  });
  return (
    <Form layout="dialog" gap="s3" outcome={outcome} onSubmit={onSubmit}>
      <SubmitButton {...looks} busy={busy} busyLabel="Opening...">
        Continue with {label}
      </SubmitButton>
    </Form>
  );
}

type Known = {
  signIn: ClientConfig['signIn'];
  lastWay: string | null;
  /** Whether the account has a passkey, as far as this browser knows. */
  hasPasskeys: boolean;
};

/**
 * The ways to sign in to an account. The first is `lastWay`, the one that signed in last in this browser, or else the
 * one that the account began with. Empty, for example, for an anonymous user, who never added an address or a provider.
 * Passkeys are offered to an account without any other way too, even if the page knows of none.
 */
export function accountWays(user: User, { signIn, lastWay, hasPasskeys }: Known): readonly Way[] {
  // The server refuses a user of single sign-on any other way to sign in, also a mailed code.
  if (isSsoUser(user)) return ['sso'];
  if (user.is_anonymous) return [];
  const { provider: began = 'email', providers: linked = [] } = user.app_metadata;
  const known = signIn.providers.filter(({ name }) => linked.includes(name));
  const hasAddress = Boolean(user.email);
  const hasWallets = signIn.wallets.ethereum || signIn.wallets.solana;
  const ways = [
    // A user who began with a provider may have set a password later.
    ...(hasAddress ? (['password'] as const) : []),
    ...(signIn.passkeys && hasPasskeys ? (['passkey'] as const) : []),
    ...(signIn.mailCodes && hasAddress ? (['mailCode'] as const) : []),
    ...(signIn.phone && user.phone ? (['phoneCode'] as const) : []),
    ...(hasWallets && linked.includes('web3') ? (['wallet'] as const) : []),
    ...known.map(({ name }) => `provider:${name}` as const),
  ];
  if (ways.length === 0 && signIn.passkeys) return ['passkey'];
  const first =
    ways.find((way) => way === lastWay) ?? ways.find((way) => way === (BEGINNINGS[began] ?? `provider:${began}`));
  return first === undefined ? ways : [first, ...ways.filter((way) => way !== first)];
}

const BEGINNINGS: Readonly<Record<string, Way>> = { email: 'password', phone: 'phoneCode', web3: 'wallet' };

/** Handles a mailed link: names the account, and signs in only after a click (docs/specification/accounts.md 8). */
import { useState, type ReactNode } from 'react';
import { MESSAGES, providerMessage } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link, useNavigate } from '#client/lib/navigation.ts';
import { rememberWay } from '#client/lib/session/last-way.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Lead, OtherWays, SignInLayout, SignedInAs } from '../sign-in-layout.tsx';
import type { MailLink } from './arrived-link.ts';
import { useAdoptSession, useLinkVerification, type VerifiedAccount } from './use-link-verification.ts';
import { EmailForm } from '../account-fields.tsx';
import { mailCode, MailedCode } from '../ways/mail-code.tsx';

type ConfirmLinkProps = {
  link: MailLink;
  /** Drops the link, whose parameters the URL no longer has, and shows the sign-in form. */
  onDrop: () => void;
};

const SIGN_IN = { title: 'Sign in', lead: 'This link signs you in.' };
const ADDRESS = {
  title: 'Confirm your email address',
  lead: 'Confirm that this address is yours. To sign in on another device, enter the code of the email there.',
};
const TEXTS: Readonly<Record<string, typeof SIGN_IN>> = {
  signup: ADDRESS,
  email: ADDRESS,
  email_change: {
    title: 'Confirm your new email address',
    // Both addresses get such a link, and the link does not say which of the two it was sent to.
    lead: 'We sent a link to both of your addresses. Your email address changes after you confirm both. You can enter the codes of the emails in your profile instead.',
  },
};

export function ConfirmLink({ link, onDrop }: ConfirmLinkProps) {
  const adoptSession = useAdoptSession();
  const { user } = useSession();
  const toast = useToast();
  const navigate = useNavigate();
  const state = useLinkVerification(link);
  const type = 'type' in link ? link.type : 'magiclink';
  const isAddressChange = type === 'email_change';
  const { title, lead } = TEXTS[type] ?? SIGN_IN;

  const openPage = async (path: typeof ROUTES.journal.path | typeof ROUTES.profile.path): Promise<void> => {
    await navigate(path, { replace: true });
    onDrop();
  };
  const adopt = async (account: VerifiedAccount): Promise<Outcome> => {
    const error = await adoptSession(account);
    if (error) return { kind: 'error', text: providerMessage(error) };
    if (type === 'magiclink') rememberWay('mailCode');
    if (isAddressChange) toast({ kind: 'success', text: 'Your email address was changed.' });
    await openPage(isAddressChange ? ROUTES.profile.path : ROUTES.journal.path);
    return null;
  };
  const proceed = (): void => void (user ? openPage(ROUTES.journal.path) : onDrop());

  switch (state.step) {
    case 'checking':
      return <SignInLayout title={title} lead="Checking your link..." />;
    case 'rejected':
      return <BrokenLink text={state.text} isAddressChange={isAddressChange} onContinue={proceed} />;
    case 'firstConfirmed':
      return (
        <SignInLayout title="One more link to open">
          <Stack above="s6" stretch>
            <Notice kind="success">{MESSAGES.firstLinkAccepted}</Notice>
            <Button onClick={proceed}>{user ? 'Open your journal' : 'Sign in'}</Button>
          </Stack>
        </SignInLayout>
      );
    case 'awaitingClick':
      return (
        <ConfirmForm
          title={title}
          lead={
            <>
              <Lead>{lead}</Lead>
              <SignedInAs />
            </>
          }
          label={link.kind === 'tokens' ? 'Try again' : 'Confirm'}
          busyLabel="Confirming..."
          // If the link is for the signed-in account, this click also stores the new session: no second confirmation.
          onConfirm={() => state.open((account) => (account.user.id === user?.id ? adopt(account) : null))}
        />
      );
    case 'verified': {
      const { account } = state;
      const decline = (): void => {
        // Best effort: ends the session on the server. This browser has never stored the session.
        void account.auth.signOut({ scope: 'local' });
        proceed();
      };
      return (
        <ConfirmForm
          title={link.kind === 'hash' && type === 'signup' ? 'Your email address is confirmed' : 'Sign in'}
          lead={
            <>
              <Lead>
                This link signs you in as <strong>{account.user.email}</strong>. Continue only if this account is yours.
              </Lead>
              <SignedInAs />
            </>
          }
          label="Continue"
          busyLabel="Signing in..."
          onConfirm={() => adopt(account)}
        >
          <Button tone="text" onClick={decline}>
            {user ? `Stay signed in as ${user.email}` : 'Do not sign in'}
          </Button>
        </ConfirmForm>
      );
    }
  }
}

type ConfirmFormProps = {
  title: string;
  lead: ReactNode;
  label: string;
  busyLabel: string;
  onConfirm: () => Promise<Outcome>;
  children?: ReactNode;
};

function ConfirmForm({ title, lead, label, busyLabel, onConfirm, children }: ConfirmFormProps) {
  const { outcome, busy, onSubmit } = useSubmit(() => onConfirm());
  return (
    <SignInLayout title={title}>
      {lead}
      <Form layout="page" outcome={outcome} onSubmit={onSubmit}>
        <SubmitButton layout="page" busy={busy} busyLabel={busyLabel}>
          {label}
        </SubmitButton>
        {children}
      </Form>
    </SignInLayout>
  );
}

type BrokenLinkProps = {
  text: string;
  /** A link that was to change the address: only a signed-in user can request another one. */
  isAddressChange: boolean;
  onContinue: () => void;
};

/** Explains why a mailed link failed, and how to get a new one. */
function BrokenLink({ text, isAddressChange, onContinue }: BrokenLinkProps) {
  const { user } = useSession();
  const { mailCodes } = useClientConfig().signIn;
  if (!user && !isAddressChange && mailCodes) return <NewLink text={text} onContinue={onContinue} />;
  return (
    <SignInLayout title="This link does not work">
      <Stack above="s6" stretch>
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
      </Stack>
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
  const auth = useAuth();
  const [sentTo, setSentTo] = useState<string | null>(null);
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
    <SignInLayout title="This link does not work" footer={<OtherWays onBack={onContinue} />}>
      <Stack above="s6" stretch>
        <Notice kind="error">{text}</Notice>
        <p>A link works once, and for an hour. We can email you a new one that signs you in.</p>
      </Stack>
      <EmailForm
        autoFocus={false}
        submitLabel="Email me a new link"
        send={(email) => mailCode(auth, email)}
        onSent={(email) => {
          // Once the mailed code has signed the user in, the guard must redirect instead of showing this link again.
          clearAuthLink();
          setSentTo(email);
        }}
      />
      <Stack gap="s2" above="s4" stretch>
        <PasswordReset>Did the link reset your password? Then</PasswordReset>
      </Stack>
    </SignInLayout>
  );
}

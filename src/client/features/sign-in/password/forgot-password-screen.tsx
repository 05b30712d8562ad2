/** Requests a password reset email and takes its code. Never reveals whether the address has an account. */
import { useState } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { Link, useNavigate } from '#client/lib/navigation.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { InlineButton } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { SignInLayout } from '../sign-in-layout.tsx';
import { EmailForm } from '../account-fields.tsx';
import { NewPassword, RecoveryCodeForm } from './new-password.tsx';
import { useAdoptSession, type VerifiedAccount } from '../link/use-link-verification.ts';

export function ForgotPasswordScreen() {
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [account, setAccount] = useState<VerifiedAccount | null>(null);
  if (account) return <NewPasswordScreen account={account} />;
  if (sentTo === null) return <RequestResetForm onSent={setSentTo} />;
  return (
    <SignInLayout
      title="Check your email"
      lead={
        <>
          If <strong>{sentTo}</strong> has an account, we sent it an email. Open the link in it, or enter the code here.
        </>
      }
      footer={
        <>
          No email? Check your spam folder, or{' '}
          <InlineButton onClick={() => setSentTo(null)}>send it again</InlineButton>.
        </>
      }
    >
      <Stack above="s6" stretch>
        <Notice kind="success">{MESSAGES.resetMailSent}</Notice>
      </Stack>
      <RecoveryCodeForm address={sentTo} onVerified={setAccount} />
    </SignInLayout>
  );
}

function RequestResetForm({ onSent }: { onSent: (address: string) => void }) {
  const auth = useAuth();
  return (
    <SignInLayout
      title="Forgot your password?"
      lead="Enter your email address and we will send you a link and a code to reset it."
      footer={<Link to={ROUTES.login.path}>Back to Login</Link>}
    >
      <EmailForm
        submitLabel="Send Reset Link"
        send={(email) =>
          auth.resetPasswordForEmail(email, { redirectTo: `${location.origin}${ROUTES.resetPassword.path}` })
        }
        onSent={onSent}
      />
    </SignInLayout>
  );
}

function NewPasswordScreen({ account }: { account: VerifiedAccount }) {
  const adoptSession = useAdoptSession();
  const toast = useToast();
  const navigate = useNavigate();
  return (
    <SignInLayout title="Set a new password">
      <NewPassword
        account={account}
        onAccepted={async () => {
          toast({ kind: 'success', text: MESSAGES.passwordUpdated });
          // On success the route guard sees the session and redirects to the journal.
          const error = await adoptSession(account);
          if (error) await navigate(ROUTES.login.path, { replace: true });
          return null;
        }}
      />
    </SignInLayout>
  );
}

/** Takes the code of a recovery email. The session stays in memory until the new password is accepted. */
import { validateEmail } from '#domain/account/account.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf } from '#client/lib/hooks/use-submit.ts';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { EmailField } from '../email-field.tsx';
import { verifiedAccount, type VerifiedAccount } from '../link/use-link-verification.ts';
import styles from '../sign-in.module.css';

type RecoveryCodeFormProps = {
  /** The address that the email was sent to; the form asks for it if missing. */
  address?: string;
  onVerified: (account: VerifiedAccount) => void;
};

export function RecoveryCodeForm({ address, onVerified }: RecoveryCodeFormProps) {
  const { createMemoryAuth } = useSupabase();
  return (
    <CodeForm
      className={styles.form}
      autoFocus={address !== undefined}
      check={async (token, form) => {
        const email = address ?? textOf(form, 'email').trim();
        const problem = validateEmail(email);
        if (problem) return { outcome: { kind: 'error', text: problem, field: 'email' } };
        const auth = createMemoryAuth();
        const { data, error } = await auth.verifyOtp({ email, token, type: 'recovery' });
        if (error) return { error };
        const { user, session } = data;
        if (user && session) onVerified(verifiedAccount(auth, user, session));
        return { outcome: null };
      }}
    >
      {address === undefined ? (errorOf) => <EmailField error={errorOf('email')} /> : undefined}
    </CodeForm>
  );
}

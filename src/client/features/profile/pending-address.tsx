/** A pending change of the email address: code forms for the old and the new address. */
import { MESSAGES } from '#domain/messages.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import styles from './profile.module.css';

export function PendingAddress() {
  const { email = '', new_email: next } = useUser();
  if (!next) return null;
  return (
    <div className={styles.move}>
      <Notice kind="info">
        To change your email address to <strong>{next}</strong>, open the links that we sent to both addresses, or enter
        the codes here. Until then, sign in with <strong>{email}</strong>.
      </Notice>
      <AddressCode key={email} address={email} />
      <AddressCode key={next} address={next} />
    </div>
  );
}

function AddressCode({ address }: { address: string }) {
  const { auth } = useSupabase();
  const toast = useToast();
  return (
    <CodeForm
      className={styles.code}
      label={`Code sent to ${address}`}
      check={async (token) => {
        const { data, error } = await auth.verifyOtp({ email: address, token, type: 'email_change' });
        if (error) return { error };
        if (!data.session) return { outcome: { kind: 'success', text: MESSAGES.firstCodeAccepted } };
        // The user of the new session has no `new_email`, so `PendingAddress` disappears.
        toast({ kind: 'success', text: 'Your email address was changed.' });
        return { outcome: null };
      }}
    />
  );
}

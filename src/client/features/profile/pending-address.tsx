/** A change of address that waits for both mailboxes: their links are opened, or their codes typed here. */
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
        Your address changes to <strong>{next}</strong> once you open the links that we sent to both addresses, or type
        their codes here. Until then you sign in with <strong>{email}</strong>.
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
        // Its session takes this notice away.
        toast({ kind: 'success', text: 'Your email address is changed.' });
        return { outcome: null };
      }}
    />
  );
}

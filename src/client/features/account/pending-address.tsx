/**
 * A pending change of the email address (docs/specification/accounts.md 7): the addresses that still have to confirm,
 * their codes, and ways to repeat, correct or cancel it.
 */
import { CircleCheck } from 'lucide-react';
import { MESSAGES } from '#domain/messages.ts';
import { useOwnAccount, type AddressChange } from '#client/lib/api/own-account.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { CodeForm } from '#client/ui/form/code-form.tsx';
import { ResendForm } from '#client/ui/form/resend-form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import styles from './details.module.css';

type PendingAddressProps = {
  change: AddressChange;
  /** Called when one of two addresses is confirmed. */
  onFirstConfirmed: () => void;
  /** Lets the user type another address. */
  onCorrect: () => void;
};

export function PendingAddress({ change, onFirstConfirmed, onCorrect }: PendingAddressProps) {
  const { auth } = useSupabase();
  const { email = '', email_change_sent_at: sentAt } = useUser();
  const { new_email: next, unconfirmed } = change;
  const addresses = email === '' ? [next] : [email, next];
  return (
    <div className={styles.change}>
      <Notice kind="info">
        {unconfirmed.length > 1 ? (
          <>
            To change your email address to <strong>{next}</strong>, open the links that we sent to both addresses, or
            enter the codes here.
          </>
        ) : (
          <>
            To finish the change of your email address, open the link that we sent to <strong>{unconfirmed[0]}</strong>,
            or enter its code here.
          </>
        )}
        {email !== '' && (
          <>
            {' '}
            Until then, sign in with <strong>{email}</strong>.
          </>
        )}
      </Notice>
      {addresses.map((address) =>
        unconfirmed.includes(address) ? (
          <AddressCode key={address} address={address} onFirstConfirmed={onFirstConfirmed} />
        ) : (
          <p key={address} className={styles.confirmed}>
            <CircleCheck aria-hidden />
            Confirmed: {address}
          </p>
        ),
      )}
      <ResendForm
        // A new key restarts the countdown: the server limits mails from the time of the latest one.
        key={`${next} ${sentAt}`}
        className={styles.resend}
        sentAt={sentAt === undefined ? undefined : Date.parse(sentAt)}
        send={() => (email === '' ? auth.updateUser({ email: next }) : auth.resend({ type: 'email_change', email }))}
        sentText={unconfirmed.length > 1 ? 'We sent both emails again.' : 'We sent the email again.'}
      />
      <div className={styles.choices}>
        <Button onClick={onCorrect}>Use another address</Button>
        <CancelForm email={email} />
      </div>
    </div>
  );
}

function AddressCode({ address, onFirstConfirmed }: { address: string; onFirstConfirmed: () => void }) {
  const { auth } = useSupabase();
  const toast = useToast();
  return (
    <CodeForm
      className={styles.code}
      label={`Code sent to ${address}`}
      check={async (token) => {
        const { data, error } = await auth.verifyOtp({ email: address, token, type: 'email_change' });
        if (error) return { error };
        const text = data.session ? 'Your email address was changed.' : MESSAGES.firstCodeAccepted;
        toast({ kind: 'success', text });
        if (!data.session) onFirstConfirmed();
        return { outcome: null };
      }}
    />
  );
}

function CancelForm({ email }: { email: string }) {
  const { auth } = useSupabase();
  const account = useOwnAccount();
  const toast = useToast();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    await account.cancelAddressChange();
    toast({ kind: 'success', text: email === '' ? 'No address was added.' : `You keep ${email}.` });
    // Refreshes the stored user, which still has the new address.
    await auth.refreshSession();
    return null;
  });
  return (
    <form onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      <Button type="submit" busy={busy} busyLabel="Cancelling...">
        Cancel the change
      </Button>
    </form>
  );
}

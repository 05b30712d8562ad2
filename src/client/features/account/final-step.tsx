/** The last step: names the consequences, deletes the account and opens the landing page, which offers to undo it. */
import { useId, useState } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { OWN_ACCOUNT_MESSAGES, refusalMessage } from '#domain/account/own-account-messages.ts';
import { RefusedError, useOwnAccount, type Proof } from '#client/lib/api/own-account.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { DELETION_KEY } from '#client/lib/session/storage-keys.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { ProofFields, proofOf, type ProofKind } from './proof-fields.tsx';
import styles from './delete-account.module.css';

type FinalStepProps = {
  kind: ProofKind;
  /** The proof that the server accepted for the archive a moment ago. If null, the form asks for a proof. */
  accepted: Proof | null;
  onClose: () => void;
};

export function FinalStep({ kind, accepted, onClose }: FinalStepProps) {
  const account = useOwnAccount();
  const { email } = useUser();
  const premium = usePremium();
  const { sendUnsavedText, signOut } = useSession();
  /** True after the server has refused the archive's proof for the deletion, because the proof had expired. */
  const [isRefused, setRefused] = useState(false);
  const [unsent, setUnsent] = useState<readonly Day[]>([]);
  const factsId = useId();
  const isAccepted = accepted !== null && !isRefused;

  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    // Send unsaved text first, so that undoing the deletion brings it back too.
    const days = await sendUnsavedText();
    if (days.length > 0 && unsent.length === 0) {
      setUnsent(days);
      return null;
    }
    try {
      const deletion = await account.requestDeletion(isAccepted ? accepted : proofOf(form));
      sessionStorage.setItem(DELETION_KEY, JSON.stringify(deletion));
    } catch (error) {
      if (!(error instanceof RefusedError)) return { kind: 'error', text: OWN_ACCOUNT_MESSAGES.notReached };
      setRefused(true);
      return { kind: 'error', ...refusalMessage(error.code) };
    }
    // Wipes this browser's copies and opens the landing page. The server has ended the session already.
    await signOut('local');
    return null;
  });

  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <ul id={factsId} className={styles.facts}>
        <li>In one hour your account and all your logs are gone for good.</li>
        <li>You are signed out on every device now.</li>
        <li>
          Until then you can keep the account: {email ? `by the link that we send to ${email}, or ` : ''}by signing in.
        </li>
        {premium === true && <li>Your Closer plan ends with the account.</li>}
      </ul>
      {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {unsent.length > 0 && (
        <Notice kind="error">
          Your text for {unsent.map(dayLabel).join(', ')} is not saved to your account. It will be lost, even if you
          keep the account.
        </Notice>
      )}
      {!isAccepted && <ProofFields kind={kind} errorOf={errorOf} />}
      <div className={styles.choices}>
        <Button type="submit" aria-describedby={factsId} busy={busy} busyLabel="Deleting...">
          {unsent.length > 0 ? 'Delete my account anyway' : 'Delete my account'}
        </Button>
        <Button tone="text" softDisabled={busy} autoFocus={isAccepted || kind === 'none'} onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/**
 * Deletes the account in steps: offers a copy of all logs, asks for a proof that the owner is at the device, and names
 * the consequences (docs/specification/accounts.md 12).
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useOwnAccount, type Proof } from '#client/lib/api/own-account.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SecondStep } from '#client/ui/second-step/second-step.tsx';
import { ArchiveStep } from './archive-step.tsx';
import { FinalStep } from './final-step.tsx';
import styles from './delete-account.module.css';

export function DeleteAccountDialog({ onClose }: { onClose: () => void }) {
  const user = useUser();
  const { auth } = useSupabase();
  const account = useOwnAccount();
  const queries = useQueryClient();
  const queryKey = ['required-proof', user.id];
  const required = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await account.readFacts(signal)).required_proof,
    // The required proof depends on how recent the last proof is, so every opened dialog asks the server again.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const [step, setStep] = useState<'archive' | 'final'>('archive');
  /** The proof that the server has accepted for the archive. The final step sends it for the deletion too. */
  const [accepted, setAccepted] = useState<Proof | null>(null);
  const kind = required.data;

  return (
    <Dialog title={TITLES[kind === 'second_step' ? 'proof' : step]} onClose={onClose}>
      <div className={styles.steps}>
        {required.isPending && <LoadingText />}
        {required.isError && (
          <>
            <Notice kind="error">Couldn't reach the server. Your account is unchanged.</Notice>
            <div className={styles.choices}>
              <Button busy={required.isFetching} busyLabel="Loading..." onClick={() => void required.refetch()}>
                Try again
              </Button>
            </div>
          </>
        )}
        {kind === 'second_step' && (
          <SecondStep auth={auth} user={user} onPassed={() => void queries.resetQueries({ queryKey })}>
            <Button tone="text" onClick={onClose}>
              Cancel
            </Button>
          </SecondStep>
        )}
        {kind === 'sign_in' && <SignInAgain onClose={onClose} />}
        {kind !== undefined && kind !== 'second_step' && kind !== 'sign_in' && (
          <>
            {step === 'archive' && (
              <ArchiveStep kind={kind} onAccepted={setAccepted} onContinue={() => setStep('final')} />
            )}
            {step === 'final' && <FinalStep kind={kind} accepted={accepted} onClose={onClose} />}
          </>
        )}
      </div>
    </Dialog>
  );
}

const TITLES = {
  proof: "Confirm that it's you",
  archive: 'Take your logs with you',
  final: 'Delete your account',
} as const;

function SignInAgain({ onClose }: { onClose: () => void }) {
  return (
    <>
      <p className={styles.text}>
        Your account has no password and no confirmed email address. To show that it is yours, log out, sign in again,
        and come back here within ten minutes.
      </p>
      <div className={styles.choices}>
        <Button data-autofocus onClick={onClose}>
          Close
        </Button>
      </div>
    </>
  );
}

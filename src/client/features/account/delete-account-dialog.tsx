/**
 * Deletes the account in steps: offers a copy of all logs, asks for a proof that the owner is at the device, and names
 * the consequences (docs/specification/accounts.md 12).
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, useEffect, useRef, useId } from 'react';
import { dayLabel, dayOf, type Day } from '#domain/day/day.ts';
import { OWN_ACCOUNT_MESSAGES, refusalMessage } from '#domain/account/own-account-messages.ts';
import { useOwnAccount, RefusedError, type Proof } from '#client/lib/api/own-account.ts';
import { downloadUrl } from '#client/lib/download.ts';
import { useUser, useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Quiet, Stack } from '#client/ui/stack.tsx';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { DELETION_KEY } from '#client/lib/session/storage-keys.ts';
import { Form } from '#client/ui/form/form.tsx';
import { proofOf, ProofFields, PROOF_TITLE, SecondStepProof, type ProofKind } from './prove-identity.tsx';
import styles from './account.module.css';

export function DeleteAccountDialog({ onClose }: { onClose: () => void }) {
  const user = useUser();
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
      <Stack stretch>
        {required.isPending && <LoadingText />}
        {required.isError && (
          <>
            <Notice kind="error">Couldn't reach the server. Your account is unchanged.</Notice>
            <Stack gap="s2" above="s2" stretch>
              <Button busy={required.isFetching} busyLabel="Loading..." onClick={() => void required.refetch()}>
                Try again
              </Button>
            </Stack>
          </>
        )}
        {kind === 'second_step' && (
          <SecondStepProof onPassed={() => void queries.resetQueries({ queryKey })} onCancel={onClose} />
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
      </Stack>
    </Dialog>
  );
}

const TITLES = { proof: PROOF_TITLE, archive: 'Take your logs with you', final: 'Delete your account' } as const;

function SignInAgain({ onClose }: { onClose: () => void }) {
  return (
    <>
      <Quiet>
        Your account has no password and no confirmed email address. To show that it is yours, log out, sign in again,
        and come back here within ten minutes.
      </Quiet>
      <Stack gap="s2" above="s2" stretch>
        <Button data-autofocus onClick={onClose}>
          Close
        </Button>
      </Stack>
    </>
  );
}

type ArchiveStepProps = { kind: ProofKind; onAccepted: (proof: Proof) => void; onContinue: () => void };

/** Offers a file with all logs, locked ones too, before the account is deleted. */
function ArchiveStep({ kind, onAccepted, onContinue }: ArchiveStepProps) {
  const account = useOwnAccount();
  const { sendUnsavedText } = useSession();
  const [file, setFile] = useState<{ name: string; url: string } | null>(null);
  /** Days with text that could not be sent. Shown as a warning: the next submit downloads the archive without it. */
  const [unsent, setUnsent] = useState<readonly Day[]>([]);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const url = file?.url;
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url]);

  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const days = await sendUnsavedText();
    if (days.length > 0 && unsent.length === 0) {
      setUnsent(days);
      return null;
    }
    setUnsent([]);
    const proof = proofOf(form);
    try {
      const blob = await account.downloadArchive(proof, stop.current.signal);
      const saved = { name: `hustle-forge-${dayOf(new Date())}.json`, url: URL.createObjectURL(blob) };
      downloadUrl(saved.url, saved.name);
      onAccepted(proof);
      setFile(saved);
      return null;
    } catch (error) {
      if (!(error instanceof RefusedError)) return { kind: 'error', text: OWN_ACCOUNT_MESSAGES.notReached };
      return { kind: 'error', ...refusalMessage(error.code) };
    }
  });

  if (file) {
    return (
      <>
        <Notice kind="success">
          All your logs are saved as{' '}
          <a href={file.url} download={file.name}>
            {file.name}
          </a>
          . Keep the file in a safe place.
        </Notice>
        <Stack gap="s2" above="s2" stretch>
          <Button tone="primary" autoFocus onClick={onContinue}>
            Continue
          </Button>
        </Stack>
      </>
    );
  }
  return (
    <Form layout="dialog" onSubmit={onSubmit}>
      <Quiet>
        Before you delete your account, download every log you ever wrote in one file, locked ones too, with your
        reviews, documents and settings. The logs can be imported again.
      </Quiet>
      {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {unsent.length > 0 && (
        <Notice kind="error">
          Your text for {unsent.map(dayLabel).join(', ')} is not saved to your account. The file will not include it.
        </Notice>
      )}
      <ProofFields kind={kind} errorOf={errorOf} />
      <Stack gap="s2" above="s2" stretch>
        <Button tone="primary" type="submit" busy={busy} busyLabel="Downloading...">
          {unsent.length > 0 ? 'Download without it' : 'Download all my logs'}
        </Button>
        <Button tone="text" softDisabled={busy} onClick={onContinue}>
          Continue without a copy
        </Button>
      </Stack>
    </Form>
  );
}

type FinalStepProps = {
  kind: ProofKind;
  /** The proof that the server accepted for the archive a moment ago. If null, the form asks for a proof. */
  accepted: Proof | null;
  onClose: () => void;
};

/** The last step: names the consequences, requests the deletion and opens the landing page, which offers to undo it. */
function FinalStep({ kind, accepted, onClose }: FinalStepProps) {
  const account = useOwnAccount();
  const { email } = useUser();
  const premium = usePremium();
  const { sendUnsavedText, signOut } = useSession();
  /** True after the server has refused the archive's proof for the deletion, for example because it has expired. */
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
    <Form layout="dialog" onSubmit={onSubmit}>
      <ul id={factsId} className={styles.consequences}>
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
      <Stack gap="s2" above="s2" stretch>
        <Button type="submit" aria-describedby={factsId} busy={busy} busyLabel="Deleting...">
          {unsent.length > 0 ? 'Delete my account anyway' : 'Delete my account'}
        </Button>
        <Button tone="text" softDisabled={busy} autoFocus={isAccepted || kind === 'none'} onClick={onClose}>
          Cancel
        </Button>
      </Stack>
    </Form>
  );
}

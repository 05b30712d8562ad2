/**
 * Applies changes that need a recent sign-in (docs/specification/api.md 31). If the sign-in is older than a day, a
 * dialog asks for the second step or, without one, for a mailed code, and applies the change again.
 */
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { isWrongCode, recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { SentCodeForm } from '#client/ui/form/code-form.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { PROOF_TITLE, SecondStepProof, useProofCode } from './prove-identity.tsx';

/** `nonce` is the mailed code; empty at first, and after a second step. */
type Change = (nonce: string) => Promise<{ error: ProviderError | null }>;
type Pending = { change: Change; settle: (result: ChangeResult) => void };
/** Null if the change succeeded. */
export type ChangeResult = null | 'cancelled' | ProviderError;

type RecentSignIn = {
  applyChange: (change: Change) => Promise<ChangeResult>;
  /** Render it anywhere in the panel. */
  dialog: ReactNode;
};

export function useRecentSignIn(): RecentSignIn {
  const [pending, setPending] = useState<Pending | null>(null);
  const applyChange = async (change: Change): Promise<ChangeResult> => {
    const { error } = await change('');
    if (error?.code !== 'reauthentication_needed') return error;
    return new Promise((resolve) => {
      const settle = (result: ChangeResult): void => {
        setPending(null);
        resolve(result);
      };
      setPending({ change, settle });
    });
  };
  return { applyChange, dialog: pending && <ConfirmDialog {...pending} /> };
}

/** The outcome to show for a failed change; null for one that the user has cancelled. */
export const toOutcome = (error: Exclude<ChangeResult, null>): Outcome =>
  error === 'cancelled' ? null : { kind: 'error', text: recoveryMessage(error) };

function ConfirmDialog({ change, settle }: Pending) {
  const { factors } = useUser();
  const hasFactor = factors?.some(({ status }) => status === 'verified') === true;
  return (
    <Dialog title={PROOF_TITLE} onClose={() => settle('cancelled')}>
      <Stack>
        <p>You signed in more than a day ago.</p>
        {hasFactor ? (
          <SecondStepProof
            onPassed={() => void change('').then(({ error }) => settle(error))}
            onCancel={() => settle('cancelled')}
          />
        ) : (
          <MailedCode change={change} settle={settle} />
        )}
      </Stack>
    </Dialog>
  );
}

function MailedCode({ change, settle }: Pending) {
  const { auth } = useSupabase();
  const { target, source, problem, send } = useProofCode();
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    void send();
  }, [send]);
  return (
    <>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <p>
        Enter the code that we sent to <strong>{target}</strong>.
      </p>
      <SentCodeForm
        source={source}
        tone="primary"
        submitLabel="Continue"
        check={async (code) => {
          const { error } = await change(code);
          if (error && isWrongCode(error)) return { error };
          settle(error);
          return { outcome: null };
        }}
        send={() => auth.reauthenticate()}
        sentText="We sent you another code."
      />
      <Button tone="text" onClick={() => settle('cancelled')}>
        Cancel
      </Button>
    </>
  );
}

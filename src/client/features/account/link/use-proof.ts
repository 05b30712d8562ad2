/**
 * Opens what a link stands for in memory, so that the screen can name the account before any session is stored.
 *
 * Threat (login CSRF): somebody sends a link of their own account, and what its reader writes from then on belongs to
 * them. So neither a link nor a page that leads here signs anybody in: the session is stored by `adoptSession` alone,
 * after the account was named and the user agreed.
 */
import { AuthSessionMissingError } from '@supabase/auth-js';
import type { AuthError, User } from '@supabase/auth-js';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isRetryable, linkMessage, providerMessage } from '#domain/messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { Auth } from '#client/lib/api/supabase.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import type { MailLink } from './mail-link.ts';

/** An account whose owner's mail was read here. `auth` holds its session in memory. */
export type Proof = { auth: Auth; user: User };

type LinkState =
  | { step: 'checking' }
  /**
   * Waits for a click. `open` answers with an error that a second click may mend; where `adopt` answers null, the account
   * is named first.
   */
  | { step: 'waiting'; open: (adopt?: (proof: Proof) => Promise<Outcome> | null) => Promise<Outcome> }
  | { step: 'refused'; text: string }
  | { step: 'halfDone' }
  | { step: 'proven'; proof: Proof };

/** Tokens that are none make the client throw. */
const UNREADABLE = { data: { session: null, user: null }, error: new AuthSessionMissingError() } as const;

type Step = 'checking' | 'waiting' | 'halfDone' | { refused: string } | { proof: Proof };

function firstStep(link: MailLink): Step {
  if (link.kind === 'error') return { refused: linkMessage(link.code) };
  if (link.kind === 'halfDone') return 'halfDone';
  return link.kind === 'hash' ? 'waiting' : 'checking';
}

export function useProof(link: MailLink): LinkState {
  const { createMemoryAuth } = useSupabase();
  const [step, setStep] = useState<Step>(() => firstStep(link));
  const isStarted = useRef(false);

  const open = useCallback(
    async (adopt?: (proof: Proof) => Promise<Outcome> | null): Promise<Outcome> => {
      if (link.kind !== 'hash' && link.kind !== 'tokens') return null;
      const auth = createMemoryAuth();
      const { data, error } = await (
        link.kind === 'tokens' ? auth.setSession(link) : auth.verifyOtp({ token_hash: link.tokenHash, type: link.type })
      ).catch(() => UNREADABLE);
      if (error && isRetryable(error)) {
        setStep('waiting');
        return { kind: 'error', text: providerMessage(error) };
      }
      if (error) setStep({ refused: linkMessage(error.code) });
      else if (!data.session || !data.user) setStep('halfDone');
      else {
        const proof = { auth, user: data.user };
        const adopted = adopt?.(proof) ?? null;
        // Not adopted, or not yet: the link is spent, so the next click uses its session.
        if (adopted === null || (await adopted) !== null) setStep({ proof });
      }
      return null;
    },
    [createMemoryAuth, link],
  );

  useEffect(() => {
    if (link.kind !== 'tokens' || isStarted.current) return;
    isStarted.current = true;
    void open();
  }, [link, open]);

  if (step === 'waiting') return { step, open };
  if (typeof step === 'string') return { step };
  return 'refused' in step ? { step: 'refused', text: step.refused } : { step: 'proven', proof: step.proof };
}

/** Stores the session of a proof: from now on this browser is signed in with its account. */
export async function adoptSession(auth: Auth, proof: Proof): Promise<AuthError | null> {
  const { data, error } = await proof.auth.getSession();
  if (!data.session) return error ?? new AuthSessionMissingError();
  return (await auth.setSession(data.session)).error;
}

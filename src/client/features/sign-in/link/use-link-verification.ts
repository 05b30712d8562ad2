/**
 * Verifies a mailed link with a session in memory, so the screen can name the account before a session is stored.
 *
 * Threat (login CSRF): an attacker sends a link to the attacker's own account, and everything the victim then writes is
 * stored there. So opening a link never signs in: only `useAdoptSession` stores the session, after the user has
 * confirmed. If another account or none is signed in here, the screen first names the account of the link.
 */
import { AuthSessionMissingError, type AuthError, type Session, type User } from '@supabase/auth-js';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isRetryable, linkMessage, providerMessage } from '#domain/messages.ts';
import { createMemoryAuth } from '#client/lib/api/auth-client.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useSupabase, type Auth } from '#client/lib/api/supabase.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { needsSecondStep } from '#client/lib/session/stored-session.ts';
import { hasUndoneDeletion, useWelcome } from '#client/ui/use-welcome-back.ts';
import type { MailLink } from './arrived-link.ts';

/** The account that a link or a code was verified for. `auth` holds its session in memory. */
export type VerifiedAccount = {
  auth: Auth;
  user: User;
  needsSecondStep: boolean;
  /** The link or code has undone the deletion of the account. */
  isDeletionUndone: boolean;
};

export const verifiedAccount = (auth: Auth, user: User, session: Session): VerifiedAccount => ({
  auth,
  user,
  needsSecondStep: needsSecondStep(session),
  isDeletionUndone: hasUndoneDeletion(session),
});

type LinkState =
  | { step: 'checking' }
  /**
   * Waits for a click. `open` returns an error if a second click may succeed. If `adopt` returns null, the account is
   * shown for confirmation.
   */
  | { step: 'awaitingClick'; open: (adopt?: (account: VerifiedAccount) => Promise<Outcome> | null) => Promise<Outcome> }
  | { step: 'rejected'; text: string }
  | { step: 'firstConfirmed' }
  | { step: 'verified'; account: VerifiedAccount };

/** The result for malformed tokens, for which the auth client throws instead of returning an error. */
const MALFORMED_TOKENS = { data: { session: null, user: null }, error: new AuthSessionMissingError() } as const;

type Step = 'checking' | 'awaitingClick' | 'firstConfirmed' | { rejected: string } | { account: VerifiedAccount };

function firstStep(link: MailLink): Step {
  if (link.kind === 'error') return { rejected: linkMessage(link.code) };
  if (link.kind === 'firstConfirmed') return 'firstConfirmed';
  return link.kind === 'hash' ? 'awaitingClick' : 'checking';
}

export function useLinkVerification(link: MailLink): LinkState {
  const supabase = useSupabase();
  const [step, setStep] = useState<Step>(() => firstStep(link));
  const isStarted = useRef(false);

  const open = useCallback(
    async (adopt?: (account: VerifiedAccount) => Promise<Outcome> | null): Promise<Outcome> => {
      if (link.kind !== 'hash' && link.kind !== 'tokens') return null;
      const auth = createMemoryAuth(supabase);
      const { data, error } = await (
        link.kind === 'tokens' ? auth.setSession(link) : auth.verifyOtp({ token_hash: link.tokenHash, type: link.type })
      ).catch(() => MALFORMED_TOKENS);
      if (error && isRetryable(error)) {
        setStep('awaitingClick');
        return { kind: 'error', text: providerMessage(error) };
      }
      if (error) setStep({ rejected: linkMessage(error.code) });
      else if (!data.session || !data.user) setStep('firstConfirmed');
      else {
        const account = verifiedAccount(auth, data.user, data.session);
        const adopted = adopt?.(account) ?? null;
        // The link cannot be used again, so the next click uses the session of this account.
        if (adopted === null || (await adopted) !== null) setStep({ account });
      }
      return null;
    },
    [supabase, link],
  );

  useEffect(() => {
    if (link.kind !== 'tokens' || isStarted.current) return;
    isStarted.current = true;
    void open();
  }, [link, open]);

  if (step === 'awaitingClick') return { step, open };
  if (typeof step === 'string') return { step };
  return 'rejected' in step ? { step: 'rejected', text: step.rejected } : { step: 'verified', account: step.account };
}

/** Returns a function that stores the session of a verified account, which signs this browser in. */
export function useAdoptSession(): (account: VerifiedAccount) => Promise<AuthError | null> {
  const auth = useAuth();
  const welcome = useWelcome();
  return async (account) => {
    const { data, error } = await account.auth.getSession();
    if (!data.session) return error ?? new AuthSessionMissingError();
    const adopted = await auth.setSession(data.session);
    if (!adopted.error) welcome(account.isDeletionUndone);
    return adopted.error;
  };
}

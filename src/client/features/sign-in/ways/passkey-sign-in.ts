/** Signs in with a passkey, from a button or from the autofill of the email field (docs/specification/api.md 32). */
import { browserSupportsWebAuthnAutofill, startAuthentication, WebAuthnAbortService } from '@simplewebauthn/browser';
import { MESSAGES, signInMessage, type ProviderError } from '#domain/messages.ts';
import type { Auth } from '#client/lib/api/supabase.ts';
import { rememberPasskeys, rememberWay } from '#client/lib/session/last-way.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';

/** A challenge is valid for five minutes. The autofill may wait longer, so it requests a new challenge before that. */
const AUTOFILL_RENEWAL_MS = 4 * 60_000;

const TEXTS: Readonly<Record<string, string>> = {
  webauthn_verification_failed: 'This passkey is not known here. Sign in another way.',
  webauthn_challenge_expired: 'That took too long. Try again.',
  webauthn_challenge_not_found: 'That took too long. Try again.',
  email_not_confirmed: MESSAGES.emailNotConfirmed,
};

const toOutcome = (error: ProviderError): Outcome => ({
  kind: 'error',
  text: TEXTS[error.code ?? ''] ?? signInMessage(error),
});

/** Returns null after a sign-in, or if another WebAuthn ceremony of this page has replaced this one. */
export async function signInWithPasskey(auth: Auth): Promise<Outcome> {
  const { data, error } = await auth.passkey.startAuthentication();
  return error ? toOutcome(error) : answerChallenge(auth, data, false);
}

/**
 * Offers passkeys in the autofill of the email field. Returns a function that ends the offer. `onOutcome` is called
 * with the error of a chosen passkey.
 */
export function offerPasskeysInAutofill(auth: Auth, onOutcome: (outcome: Outcome) => void): () => void {
  let isEnded = false;
  const offer = async (): Promise<void> => {
    if (isEnded || document.visibilityState === 'hidden' || !(await browserSupportsWebAuthnAutofill())) return;
    const { data } = await auth.passkey.startAuthentication();
    // Without a challenge, stay silent: the passkey button reports the error when the user presses it.
    if (isEnded || !data) return;
    const outcome = await answerChallenge(auth, data, true);
    if (isEnded || !outcome) return;
    onOutcome(outcome);
    void offer();
  };
  void offer();
  const renewal = setInterval(() => void offer(), AUTOFILL_RENEWAL_MS);
  return () => {
    isEnded = true;
    clearInterval(renewal);
    WebAuthnAbortService.cancelCeremony();
  };
}

type Challenge = NonNullable<Awaited<ReturnType<Auth['passkey']['startAuthentication']>>['data']>;

async function answerChallenge(auth: Auth, challenge: Challenge, useBrowserAutofill: boolean): Promise<Outcome> {
  let credential;
  try {
    credential = await startAuthentication({ optionsJSON: challenge.options as never, useBrowserAutofill });
  } catch (cause) {
    // Browsers report a cancelled dialog, a time-out and a missing passkey alike.
    if (useBrowserAutofill || isAborted(cause)) return null;
    return { kind: 'error', text: 'No passkey was used. Try again, or sign in another way.' };
  }
  const { data, error } = await auth.passkey.verifyAuthentication({
    challengeId: challenge.challenge_id,
    credential: credential as never,
  });
  if (error) return toOutcome(error);
  rememberWay('passkey');
  if (data.user) rememberPasskeys(data.user.id, true);
  return null;
}

const isAborted = (cause: unknown): boolean => cause instanceof Error && cause.name === 'AbortError';

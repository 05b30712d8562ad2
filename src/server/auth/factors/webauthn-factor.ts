/** Second factors that are WebAuthn authenticators, such as security keys (docs/specification/api.md 31). */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables.ts';
import type { Account } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { listCredentials, recordAssertion, saveCredential } from './credential-store.ts';
import type { StoredFactor } from './factor-store.ts';
import {
  createWebAuthnChallenge as createChallengeText,
  relyingPartyOf,
  requestOptions,
  userHandleOf,
} from './relying-party.ts';

export async function createWebAuthnChallenge(deps: AuthDeps, { user }: Account, factor: StoredFactor) {
  const credentials = await listCredentials(deps.database.asService('challenge a factor'), user.id, 'factor');
  const [party, challenge] = [relyingPartyOf(deps.config), createChallengeText()];
  if (factor.status === 'verified') {
    const allow = credentials.filter(({ id }) => id === factor.credential_id);
    const publicKey = requestOptions(party, { challenge, userVerification: 'discouraged', allow });
    return { challenge, type: 'request' as const, publicKey };
  }
  const { creationOptions } = await import('./check-credential.ts');
  const publicKey = await creationOptions(party, {
    challenge,
    // Not the handle of the user's passkeys: an authenticator replaces its passkey by a new credential of the same
    // handle.
    userHandle: userHandleOf(factor.id),
    userName: user.email ?? user.phone ?? 'Account',
    exclude: credentials,
    isPasskey: false,
  });
  return { challenge, type: 'create' as const, publicKey };
}

type WebAuthnAnswer = { challenge: string; type: 'create' | 'request'; response: JsonObject };

/**
 * Returns a function that consumes the proof in a transaction, or null for an answer that proves nothing. The function
 * returns false if a new credential is registered already, if the counter was used meanwhile, or if the factor is gone.
 */
export async function checkWebAuthnAnswer(
  deps: AuthDeps,
  factor: StoredFactor,
  { challenge, type, response }: WebAuthnAnswer,
): Promise<((transaction: AsService) => Promise<boolean>) | null> {
  if (type !== (factor.status === 'verified' ? 'request' : 'create')) return null;
  const { checkAssertion, checkNewCredential } = await import('./check-credential.ts');
  // No PIN or fingerprint is needed: the first step of the sign-in has verified the user, and the factor proves only
  // that they hold the authenticator.
  const expected = { party: relyingPartyOf(deps.config), challenge, requireUserVerification: false };
  const [userId, now] = [factor.user_id, deps.clock.now()];
  if (type === 'create') {
    const credential = await checkNewCredential(response, expected);
    if (!credential) return null;
    return async (transaction) => {
      const stored = await saveCredential(transaction, { userId, purpose: 'factor', credential, now });
      if (!stored) return false;
      const set = queryBuilder.updateTable('auth.mfa_factors').set({ credential_id: stored.id });
      return (await transaction.run(set.where('id', '=', factor.id).returning('id'))).length > 0;
    };
  }
  const credentials = await listCredentials(deps.database.asService('verify a factor'), userId, 'factor');
  const credential = credentials.find(({ id }) => id === factor.credential_id);
  const assertion = credential ? await checkAssertion(response, credential, expected) : null;
  if (!credential || !assertion) return null;
  return (transaction) => recordAssertion(transaction, credential.id, assertion, now);
}

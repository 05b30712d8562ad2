/** Reads the answer of a passkey ceremony and uses up its challenge. */
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { UUID } from '../keys/access-tokens.ts';
import type { Body } from '../http/body.ts';
import { AuthError } from '../http/errors.ts';
import { takeChallenge } from './passkey-store.ts';

/** @param userId null for a sign-in */
export async function readCeremony(
  deps: AuthDeps,
  body: Body,
  userId: string | null,
): Promise<{ challenge: string; answer: JsonObject }> {
  const id = body.text('challenge_id');
  if (id === '') throw new AuthError('passkey_without_challenge');
  const answer = body.object('credential');
  if (answer === null) throw new AuthError('passkey_without_credential');
  if (!UUID.test(id)) throw new AuthError('passkey_challenge_not_uuid');
  const taken = await takeChallenge(deps.database.asService('use a passkey challenge'), { id, userId });
  if (!taken) throw new AuthError('passkey_challenge_not_found');
  if (taken.expires_at <= deps.clock.now()) throw new AuthError('passkey_challenge_expired');
  return { challenge: taken.challenge, answer };
}

/**
 * POST /passkeys/authentication/options and /verify: signs in with a passkey (docs/specification/api.md 32).
 *
 * The options name no account, and a passkey that we don't know is answered like a wrong signature, so neither tells
 * who has an account.
 */
import type { AsService } from '#server/database/database.ts';
import type { JsonObject } from '#server/database/tables.ts';
import { isBanned, lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { startSession } from '../sessions/sessions.ts';
import {
  findPasskey,
  readCeremony,
  recordAssertion,
  storeChallenge,
  type StoredCredential,
} from './credential-store.ts';
import { createWebAuthnChallenge, relyingPartyOf, requestOptions, userHandleOf } from './relying-party.ts';

export const authenticationOptions: Endpoint = async (context, deps) => {
  const challenge = createWebAuthnChallenge();
  const service = deps.database.asService('sign in with a passkey');
  const stored = await storeChallenge(service, { challenge, userId: null, now: deps.clock.now() });
  return context.json({
    challenge_id: stored.id,
    options: requestOptions(relyingPartyOf(deps.config), { challenge, userVerification: 'required' }),
    expires_at: Math.floor(stored.expiresAt.getTime() / 1000),
  });
};

type Given = { body: Body; device: Device };

export const verifyAuthentication: Endpoint<Given> = async (context, deps, { body, device }) => {
  const { challenge, answer } = await readCeremony(deps, body, null);
  const now = deps.clock.now();
  const service = deps.database.asService('find a passkey');
  const passkey = await findNamedPasskey(service, answer);
  if (!passkey) throw new AuthError('passkey_wrong');
  const { checkAssertion } = await import('./check-credential.ts');
  const expected = { party: relyingPartyOf(deps.config), challenge, requireUserVerification: true };
  const assertion = await checkAssertion(answer, passkey, expected);
  if (!assertion) {
    const details = { method: 'passkey', passkey_id: passkey.id };
    const userId = passkey.user_id;
    await recordAuditEvent(service, { at: now, userId, actor: 'guest', event: 'sign_in_failed', device, details });
    throw new AuthError('passkey_wrong');
  }
  await deps.limits.consumePassedSignIn(`passkey ${passkey.id}`);
  const signIn = await deps.database.transactAsService('sign in with a passkey', async (transaction) => {
    const user = await lockUser(transaction, passkey.user_id);
    if (!user || !(await recordAssertion(transaction, passkey.id, assertion, now)))
      throw new AuthError('passkey_wrong');
    if (isBanned(user, now)) throw new AuthError('user_banned');
    if (user.email !== null && user.email_confirmed_at === null)
      throw new AuthError(403, 'email_not_confirmed', 'Email not confirmed');
    const started = await startSession(transaction, {
      userId: user.id,
      method: 'passkey',
      passkeyId: passkey.id,
      device,
      now,
    });
    return { started, account: started.account };
  });
  return context.json(await respondWithSession(context, deps, signIn));
};

/** The credential id and the user handle must name the same account: an authenticator stores both together. */
async function findNamedPasskey(service: AsService, answer: JsonObject): Promise<StoredCredential | null> {
  const { id, response } = answer;
  const userHandle =
    typeof response === 'object' && response !== null && 'userHandle' in response && response.userHandle;
  if (typeof id !== 'string' || typeof userHandle !== 'string') return null;
  const passkey = await findPasskey(service, Buffer.from(id, 'base64url'));
  return passkey && userHandleOf(passkey.user_id).equals(Buffer.from(userHandle, 'base64url')) ? passkey : null;
}

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
import { AuthError, invalidRequest } from '../http/errors.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { startSession } from '../sessions/sessions.ts';
import {
  findPasskey,
  readCeremony,
  recordAssertion,
  storeChallenge,
  listPasskeys,
  saveCredential,
  passkeyJson,
  removePasskey,
  renamePasskey,
  type StoredCredential,
} from './credential-store.ts';
import { createWebAuthnChallenge, relyingPartyOf, requestOptions, userHandleOf } from './relying-party.ts';
import { lacksSecondStep, lockSignedInUser, type Member } from '../sessions/require-user.ts';
import { checkNewCredential, creationOptions } from './check-credential.ts';
import { mailPasskeyAdded, mailPasskeyRemoved } from './factor-mails.ts';
import { checkFriendlyName } from './factor-store.ts';

export const createAuthenticationOptions: Endpoint = async (context, deps) => {
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
    // Threat: wrong answers fill the audit log, so they are limited. A right answer is never refused for them.
    await deps.limits.consumeFactorGuess(`passkey ${passkey.id}`);
    const details = { method: 'passkey', passkey_id: passkey.id };
    const userId = passkey.user_id;
    await recordAuditEvent(service, { at: now, userId, actor: 'guest', event: 'sign_in_failed', device, details });
    throw new AuthError('passkey_wrong');
  }
  await deps.limits.consumePassedSignIn(passkey.user_id);
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

const MAX_PASSKEYS = 10;

type Registration = { caller: Member; device: Device; body: Body };
type RegistrationStart = Registration & { requireRecentSignIn: (nonce: string) => Promise<void> };

// POST /passkeys/registration/options and /verify: adds a passkey to an account (docs/specification/api.md 32).

export const createRegistrationOptions: Endpoint<RegistrationStart> = async (context, deps, given) => {
  const { caller, body, requireRecentSignIn } = given;
  requireMayRegister(caller);
  const { user } = caller.account;
  const service = deps.database.asService('register a passkey');
  const existing = await listPasskeys(service, user.id);
  if (existing.length >= MAX_PASSKEYS) throw new AuthError('too_many_passkeys');
  await requireRecentSignIn(body.text('nonce'));

  const challenge = createWebAuthnChallenge();
  const stored = await storeChallenge(service, { challenge, userId: user.id, now: deps.clock.now() });
  const options = await creationOptions(relyingPartyOf(deps.config), {
    challenge,
    userHandle: userHandleOf(user.id),
    userName: user.email ?? user.phone ?? 'Account',
    exclude: existing,
    isPasskey: true,
  });
  const expiresAt = Math.floor(stored.expiresAt.getTime() / 1000);
  return context.json({ challenge_id: stored.id, options, expires_at: expiresAt });
};

export const verifyRegistration: Endpoint<Registration> = async (context, deps, { caller, device, body }) => {
  requireMayRegister(caller);
  await deps.limits.consumeChange(caller);
  const { user } = caller.account;
  const { challenge, answer } = await readCeremony(deps, body, user.id);
  const credential = await checkNewCredential(answer, {
    party: relyingPartyOf(deps.config),
    challenge,
    requireUserVerification: true,
  });
  if (!credential) throw new AuthError('passkey_wrong');
  const now = deps.clock.now();
  const passkey = await deps.database.transactAsService('register a passkey', async (transaction) => {
    // Refuses a session that has ended. A second factor that was verified meanwhile ends sessions without a second
    // step.
    await lockSignedInUser(transaction, user.id, caller.session);
    if ((await listPasskeys(transaction, user.id)).length >= MAX_PASSKEYS) throw new AuthError('too_many_passkeys');
    const saved = await saveCredential(transaction, { userId: user.id, purpose: 'passkey', credential, now });
    if (!saved) throw new AuthError(422, 'webauthn_credential_exists', 'This credential is already registered');
    await recordAuditEvent(transaction, {
      at: now,
      userId: user.id,
      actor: 'user',
      event: 'passkey_added',
      device,
      details: { passkey_id: saved.id },
    });
    return saved;
  });
  mailPasskeyAdded(deps, user);
  return context.json({ id: passkey.id, created_at: passkey.created_at.toISOString() });
};

function requireMayRegister({ account, session }: Member): void {
  if (account.user.is_sso_user) throw new AuthError(422, 'validation_failed', 'SSO users cannot register passkeys');
  if (lacksSecondStep(account, session))
    throw new AuthError(403, 'insufficient_aal', 'AAL2 session is required to manage passkeys when MFA is enabled');
}

// GET /passkeys, PATCH and DELETE /passkeys/{id}: a user's own passkeys (docs/specification/api.md 32).

export const showPasskeys: Endpoint<{ caller: Member }> = async (context, deps, { caller: { account } }) => {
  const passkeys = await listPasskeys(deps.database.asService('list passkeys'), account.user.id);
  return context.json(passkeys.map(passkeyJson));
};

/** A passkey that was just added, which has needed a recent sign-in, can be named without another one. */
const NAMING_MS = 10 * 60_000;

type OwnPasskey = {
  caller: Member;
  device: Device;
  ids: { id: string };
  requireRecentSignIn: (nonce: string) => Promise<void>;
};

export const updatePasskey: Endpoint<OwnPasskey & { body: Body }> = async (context, deps, given) => {
  const { body, ids, requireRecentSignIn } = given;
  const [{ id }, { user }] = [ids, given.caller.account];
  const friendlyName = checkFriendlyName(body.text('friendly_name'));
  if (friendlyName === '') throw invalidRequest('friendly_name is required');
  const now = deps.clock.now();
  const service = deps.database.asService('rename a passkey');
  const current = (await listPasskeys(service, user.id)).find((each) => each.id === id);
  if (!current) throw new AuthError('passkey_not_found');
  if (now.getTime() - current.created_at.getTime() > NAMING_MS) await requireRecentSignIn(body.text('nonce'));
  const passkey = await renamePasskey(service, { id, userId: user.id, friendlyName, now });
  if (!passkey) throw new AuthError('passkey_not_found');
  return context.json(passkeyJson(passkey));
};

/** Requires a recent sign-in. Threat: a stranger at an unlocked device removes the owner's passkeys. */
export const deletePasskey: Endpoint<OwnPasskey> = async (
  context,
  deps,
  { caller, device, ids, requireRecentSignIn },
) => {
  const { session } = caller;
  const [{ id }, { user }] = [ids, caller.account];
  await requireRecentSignIn(context.req.query('nonce') ?? '');
  await deps.limits.consumeChange(caller);
  const removed = await deps.database.transactAsService('remove a passkey', async (transaction) => {
    await lockSignedInUser(transaction, user.id, session);
    return removePasskey(transaction, { id, userId: user.id, actor: 'user', device, now: deps.clock.now() });
  });
  if (!removed) throw new AuthError('passkey_not_found');
  mailPasskeyRemoved(deps, user);
  return context.body(null, 204);
};

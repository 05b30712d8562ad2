/** POST /passkeys/registration/options and /verify: adds a passkey to an account (docs/specification/api.md 32). */
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { lacksSecondStep, lockSignedInUser, type Member } from '../sessions/require-user.ts';
import { checkNewCredential, creationOptions } from './check-credential.ts';
import { listPasskeys, readCeremony, saveCredential, storeChallenge } from './credential-store.ts';
import { mailPasskeyAdded } from './factor-mails.ts';
import { createWebAuthnChallenge, relyingPartyOf, userHandleOf } from './relying-party.ts';

const MAX_PASSKEYS = 10;

type Registration = { caller: Member; device: Device; body: Body };
type RegistrationStart = Registration & { requireRecentSignIn: (nonce: string) => Promise<void> };

export const registrationOptions: Endpoint<RegistrationStart> = async (context, deps, given) => {
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
    // A second factor that was verified meanwhile has ended a session without a second step.
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
  if (lacksSecondStep(account, session)) throw new AuthError('passkey_needs_second_step');
}

/** Signs in with an identity of a provider: finds or creates the account, sends the mails and maps failures to errors. */
import { ROUTES } from '#domain/routes.ts';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import type { AsService } from '#server/database/database.ts';
import { identityLinkedMail } from '#server/mail/account-emails.ts';
import { findUserById, type UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { sendNotice } from '../accounts/security-notice.ts';
import { announceClaim } from '../codes/claim-account.ts';
import { mailAccountExists, mailConfirmation } from '../codes/mail-codes.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { signInWithIdentity, type ExternalIdentity, type IdentityOutcome } from './external-identity.ts';

type ProviderSignIn = {
  provider: OAuthProvider;
  identity: ExternalIdentity;
  linkingUserId: string | null;
  /** The target of a confirmation mail. */
  redirectTo: string;
  device: Device;
  now: Date;
};

/**
 * In one transaction: runs `prepare`, signs the user in, and runs `complete` for the user. Returns the result of
 * `complete`. Throws an AuthError if the identity opens no account.
 */
export async function signInWithProvider<T>(
  deps: AuthDeps,
  { provider, identity, linkingUserId, redirectTo, device, now }: ProviderSignIn,
  steps: {
    prepare?: (transaction: AsService) => Promise<void>;
    complete: (transaction: AsService, userId: string) => Promise<T>;
  },
): Promise<T> {
  const { database, config, limits } = deps;
  await limits.consumePassedSignIn(`${identity.provider} ${identity.providerId}`);
  const padding = startPadding();
  const { signups, autoconfirm } = config.auth;
  const { result, completed } = await database.transactAsService('sign in with a provider', async (transaction) => {
    await steps.prepare?.(transaction);
    const policy = { signups, autoconfirm, emailRequired: true };
    const outcome = await signInWithIdentity(transaction, { identity, linkingUserId, policy, device, now });
    const isSignedIn = outcome.outcome === 'signed_in' || outcome.outcome === 'linked';
    if (!isSignedIn) return { result: outcome, completed: null };
    return { result: outcome, completed: { value: await steps.complete(transaction, outcome.userId) } };
  });
  await mailAboutIdentity(deps, result, { label: provider.label, redirectTo });
  if (completed) return completed.value;
  // Threat: timing. Creating an account takes longer than finding one that has the address.
  if (isUnproven(result)) await padding.finish();
  const problem = explainOutcome(result, provider.name);
  await recordAuditEvent(database.asService('record a failed sign-in'), {
    at: now,
    userId: linkingUserId,
    actor: linkingUserId === null ? 'guest' : 'user',
    event: 'sign_in_failed',
    device,
    details: { method: 'oauth', provider: provider.name, reason: problem.code },
  });
  throw problem;
}

const isUnproven = ({ outcome }: IdentityOutcome): boolean =>
  outcome === 'needs_verification' || outcome === 'address_taken';

function explainOutcome(result: IdentityOutcome, provider: string): AuthError {
  switch (result.outcome) {
    case 'needs_verification':
    case 'address_taken':
      return new AuthError('provider_email_needs_verification', provider);
    case 'email_missing':
      return new AuthError(500, 'unexpected_failure', 'Error getting user email from external provider');
    case 'identity_already_exists':
      return new AuthError(
        422,
        'identity_already_exists',
        result.isOwn ? 'Identity is already linked' : 'Identity is already linked to another user',
      );
    case 'email_exists':
      return new AuthError('email_exists');
    case 'signup_disabled':
      return new AuthError('signup_disabled');
    case 'banned':
      return new AuthError('user_banned');
    case 'user_not_found':
      return new AuthError('user_not_found');
    case 'signed_in':
    case 'linked':
      throw new Error(`no problem: ${result.outcome}`);
  }
}

type Notice = { label: string; redirectTo: string };

/**
 * Sends the mails that belong to a result. For `needs_verification` and `address_taken`, the owner of the address gets
 * a mail. The error response is the same for both, so it does not reveal whether the address has an account. After a
 * claim, or when an existing account got a new identity, its user gets a notice.
 */
async function mailAboutIdentity(deps: AuthDeps, result: IdentityOutcome, { label, redirectTo }: Notice) {
  const service = deps.database.asService('mail about an identity');
  const target = { redirectTo, challenge: null };
  if (result.outcome === 'needs_verification') await mailConfirmation(deps, result.user, target);
  if (result.outcome === 'address_taken') {
    const { owner } = result;
    if (owner.email_confirmed_at === null) await mailConfirmation(deps, owner, target);
    else await mailAccountExists(deps, owner);
  }
  if (result.outcome === 'signed_in' && result.change === 'claimed') {
    const owner = await findUserById(service, result.userId);
    if (owner) announceClaim(deps, owner, result.claim);
  }
  const isNewLink = result.outcome === 'linked' || (result.outcome === 'signed_in' && result.change === 'linked');
  if (!isNewLink) return;
  const user = await findUserById(service, result.userId);
  if (user) mailIdentityLinked(deps, user, label);
}

/** @param label the provider's name, from the settings */
function mailIdentityLinked(deps: AuthDeps, user: UserRow, label: string): void {
  if (user.email_confirmed_at === null) return;
  const profileLink = `${deps.config.publicUrl}${ROUTES.profile.path}`;
  sendNotice(deps, user, (notice) => identityLinkedMail({ ...notice, label, profileLink }));
}

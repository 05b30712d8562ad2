/** Maps the outcome of an identity's sign-in to the wire's errors and to the mails that the account's owner gets. */
import type { AuthDeps } from '../auth-deps.ts';
import { findUserById } from '../accounts/accounts.ts';
import type { IdentityOutcome } from '../accounts/external-identity.ts';
import { mailAccountExists, mailConfirmation, mailIdentityLinked } from '../mails/account-mails.ts';
import { AuthError } from '../wire/errors.ts';

/** Null if the user may be signed in. */
export function identityProblem(result: IdentityOutcome, provider: string): AuthError | null {
  switch (result.outcome) {
    case 'signed_in':
    case 'linked':
      return null;
    case 'needs_verification':
    case 'address_taken':
      return new AuthError('provider_email_needs_verification', provider);
    case 'email_missing':
      return new AuthError('provider_email_missing');
    case 'identity_already_exists':
      return new AuthError(result.isOwn ? 'identity_already_linked' : 'identity_linked_to_other');
    case 'email_exists':
      return new AuthError('email_exists');
    case 'signup_disabled':
      return new AuthError('signup_disabled');
    case 'banned':
      return new AuthError('user_banned');
    case 'user_not_found':
      return new AuthError('user_not_found');
  }
}

type Notice = { label: string; redirectTo: string };

/** Call after the transaction. The owner of an address that a provider has not verified learns of the attempt by mail. */
export async function mailAboutIdentity(deps: AuthDeps, result: IdentityOutcome, { label, redirectTo }: Notice) {
  const service = deps.database.asService('mail about an identity');
  const target = { redirectTo, challenge: null };
  if (result.outcome === 'needs_verification') await mailConfirmation(deps, result.user, target);
  if (result.outcome === 'address_taken') {
    const { owner } = result;
    if (owner.email_confirmed_at === null) await mailConfirmation(deps, owner, target);
    else await mailAccountExists(deps, service, owner);
  }
  const isNewLink = result.outcome === 'linked' || (result.outcome === 'signed_in' && result.change === 'linked');
  if (!isNewLink) return;
  const user = await findUserById(service, result.userId);
  if (user) mailIdentityLinked(deps, user, label);
}

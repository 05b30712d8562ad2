/** Ends what a claim of an account has removed, and tells the owner (docs/specification/accounts.md 17). */
import { ROUTES } from '#domain/routes.ts';
import { accountClaimedMail } from '#server/mail/account-emails.ts';
import type { UserRow } from '../accounts/accounts.ts';
import type { Claim } from './claim-account.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { sendUrgent } from '../accounts/security-notice.ts';

/** Call after the transaction that claimed the account. Sends no mail about an account that nobody had used. */
export function announceClaim(deps: AuthDeps, { email }: Pick<UserRow, 'email'>, claim: Claim): void {
  for (const id of claim.endedSessions) deps.accessTokens.invalidateSession(id);
  if (email === null || !claim.wasInUse) return;
  const link = (path: string): string => `${deps.config.publicUrl}${path}`;
  const links = { resetLink: link(ROUTES.forgotPassword.path), profileLink: link(ROUTES.profile.path) };
  sendUrgent(deps, email, accountClaimedMail({ to: email, ...links }));
}

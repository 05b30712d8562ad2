/** Emails about the deletion of an account. */
import { ROUTES } from '#domain/routes.ts';
import { deletionRequestedMail, deletionUndoneMail } from '#server/mail/account-emails.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { AuthError } from '../http/errors.ts';
import { undoDeletionLink } from '../codes/mail-links.ts';
import { sendNotice, type MailDeps } from '../accounts/security-notice.ts';

type Owner = Pick<UserRow, 'id' | 'email'>;

/**
 * Counts the mail about a deletion that is about to be requested. Throws `over_email_send_rate_limit`. Threat: the thief
 * of a session first uses up the owner's mails with other changes, and then deletes the account without a word.
 */
export async function countDeletionMail({ limits }: MailDeps, user: UserRow): Promise<void> {
  if (user.email === null) return;
  const to = { address: user.email, isProven: user.email_proven_at !== null };
  if ((await limits.allowMail('urgent', to)) === 'no')
    throw new AuthError('over_email_send_rate_limit', String(WAIT_SECONDS), WAIT_SECONDS);
}
const WAIT_SECONDS = 3_600;

/**
 * The caller has called `countDeletionMail`. Threat: the thief of a session deletes the account. The mail tells the owner
 * and has a link that undoes it.
 */
export function mailDeletionRequested(deps: MailDeps, user: Owner, linkToken: string): void {
  const loginLink = `${deps.config.publicUrl}${ROUTES.login.path}`;
  const undoLink = undoDeletionLink(deps.config, linkToken);
  sendNotice(deps, user, (notice) => deletionRequestedMail({ ...notice, undoLink, loginLink }), null);
}

export const mailDeletionUndone = (deps: MailDeps, user: Owner): void => sendNotice(deps, user, deletionUndoneMail);

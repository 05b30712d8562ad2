/** Emails about the deletion of an account. */
import { ROUTES } from '#domain/routes.ts';
import { deletionRequestedMail, deletionUndoneMail } from '#server/mail/account-emails.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { undoDeletionLink } from './mail-links.ts';
import { sendNotice } from './security-notice.ts';
import type { MailDeps } from './security-notice.ts';

type Owner = Pick<UserRow, 'id' | 'email'>;

/** Threat: the thief of a session deletes the account. The mail tells the owner and has a link that undoes it. */
export function mailDeletionRequested(deps: MailDeps, user: Owner, linkToken: string): void {
  const loginLink = `${deps.config.publicUrl}${ROUTES.login.path}`;
  const undoLink = undoDeletionLink(deps.config, linkToken);
  sendNotice(deps, user, (notice) => deletionRequestedMail({ ...notice, undoLink, loginLink }));
}

export const mailDeletionUndone = (deps: MailDeps, user: Owner): void => sendNotice(deps, user, deletionUndoneMail);

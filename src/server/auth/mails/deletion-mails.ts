/** Emails about the deletion of an account. */
import { ROUTES } from '#domain/routes.ts';
import { deletionRequestedMail, deletionUndoneMail } from '#server/mail/account-emails.ts';
import type { AuthDeps } from '../auth-deps.ts';
import { undoDeletionLink } from './mail-links.ts';

/** The owner learns of the request at the address, also if somebody else made it. */
export function mailDeletionRequested({ config, mailer }: AuthDeps, to: string, linkToken: string): void {
  const loginLink = `${config.publicUrl}${ROUTES.login.path}`;
  mailer.send(deletionRequestedMail({ to, undoLink: undoDeletionLink(config, linkToken), loginLink }));
}

export function mailDeletionUndone({ config, mailer }: AuthDeps, to: string): void {
  mailer.send(deletionUndoneMail({ to, resetLink: `${config.publicUrl}${ROUTES.forgotPassword.path}` }));
}

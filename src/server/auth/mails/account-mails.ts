/**
 * Queues account emails, and issues the token that an email carries. `claimInterval` silently drops an email that
 * follows another of its kind too soon; the callers of `mailAddressChange` check the interval themselves.
 */
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import {
  accountExistsMail,
  confirmAddressMail,
  confirmNewAddressMail,
  confirmOldAddressMail,
  emailChangedMail,
  identityLinkedMail,
  passwordChangedMail,
  phoneChangedMail,
  reauthenticationMail,
  recoveryMail,
} from '#server/mail/account-emails.ts';
import type { AuthDeps } from '../auth-deps.ts';
import { claimMail } from '../accounts/accounts.ts';
import type { SentColumn, UserRow } from '../accounts/accounts.ts';
import { issueOneTimeToken } from '../accounts/one-time-tokens.ts';
import type { OneTimePurpose } from '#server/database/tables/auth-tables.ts';
import { mailLink } from './mail-links.ts';

const MAIL_INTERVAL_MS = 60_000;

/** The minimum time between two emails of the same kind to one user. */
export const mailIntervalMs = ({ config }: Pick<AuthDeps, 'config'>): number =>
  config.auth.rateLimits ? MAIL_INTERVAL_MS : 0;

const claimInterval = (parts: AuthDeps, service: AsService, userId: string, column: SentColumn): Promise<boolean> =>
  claimMail(service, { userId, column, intervalMs: mailIntervalMs(parts), now: parts.clock.now() });

const resetLinkOf = ({ config }: Pick<AuthDeps, 'config'>): string =>
  `${config.publicUrl}${ROUTES.forgotPassword.path}`;

const issue = (parts: AuthDeps, service: AsService, userId: string, purpose: OneTimePurpose, address: string) =>
  issueOneTimeToken(service, {
    userId,
    purpose,
    address,
    now: parts.clock.now(),
    key: parts.secrets.oneTimeCodes,
  });

export async function mailConfirmation(parts: AuthDeps, service: AsService, user: UserRow, redirectTo: string) {
  if (user.email === null || !(await claimInterval(parts, service, user.id, 'confirmation_sent_at'))) return;
  const { linkToken, code } = await issue(parts, service, user.id, 'signup', user.email);
  const link = mailLink(parts.config, 'signup', linkToken, redirectTo);
  parts.mailer.send(confirmAddressMail({ to: user.email, link, code }));
}

export async function mailRecovery(parts: AuthDeps, service: AsService, user: UserRow, redirectTo: string) {
  if (user.email === null || !(await claimInterval(parts, service, user.id, 'recovery_sent_at'))) return;
  const { linkToken, code } = await issue(parts, service, user.id, 'recovery', user.email);
  const link = mailLink(parts.config, 'recovery', linkToken, redirectTo);
  parts.mailer.send(recoveryMail({ to: user.email, link, code }));
}

export async function mailReauthentication(parts: AuthDeps, service: AsService, user: UserRow) {
  if (user.email === null || !(await claimInterval(parts, service, user.id, 'reauthentication_sent_at'))) return;
  const { code } = await issue(parts, service, user.id, 'reauthentication', user.email);
  parts.mailer.send(reauthenticationMail({ to: user.email, code, resetLink: resetLinkOf(parts) }));
}

/** Only the owner of a taken address learns of the attempt; the caller gets the same answer as for a free address. */
export async function mailAccountExists(parts: AuthDeps, service: AsService, owner: UserRow) {
  if (owner.email === null || !(await claimInterval(parts, service, owner.id, 'existing_account_notice_sent_at')))
    return;
  const loginLink = `${parts.config.publicUrl}${ROUTES.login.path}`;
  parts.mailer.send(accountExistsMail({ to: owner.email, loginLink, resetLink: resetLinkOf(parts) }));
}

type AddressChange = { user: UserRow; newEmail: string; ownerOfNew: UserRow | null; redirectTo: string };

/**
 * Sends one email to the old and one to the new address, because both addresses must confirm
 * (docs/specification/wire.md 13). If the new address is taken, its owner gets a notice instead of a link: the change
 * can never be completed, and the signed-in user does not learn that the address is taken.
 */
export async function mailAddressChange(parts: AuthDeps, service: AsService, change: AddressChange) {
  const { user, newEmail, ownerOfNew, redirectTo } = change;
  const linkFor = (linkToken: string): string => mailLink(parts.config, 'email_change', linkToken, redirectTo);
  if (user.email !== null) {
    const current = await issue(parts, service, user.id, 'email_change_current', user.email);
    const link = linkFor(current.linkToken);
    parts.mailer.send(confirmOldAddressMail({ to: user.email, newEmail, link, code: current.code }));
  }
  const fresh = await issue(parts, service, user.id, 'email_change_new', newEmail);
  if (ownerOfNew) return mailAccountExists(parts, service, ownerOfNew);
  parts.mailer.send(confirmNewAddressMail({ to: newEmail, link: linkFor(fresh.linkToken), code: fresh.code }));
}

export function mailPasswordChanged(parts: AuthDeps, user: UserRow): void {
  if (user.email === null) return;
  parts.mailer.send(passwordChangedMail({ to: user.email, resetLink: resetLinkOf(parts) }));
}

/** @param label the provider's name, from the settings */
export function mailIdentityLinked(parts: AuthDeps, user: UserRow, label: string): void {
  if (user.email === null || user.email_confirmed_at === null) return;
  const profileLink = `${parts.config.publicUrl}${ROUTES.profile.path}`;
  parts.mailer.send(identityLinkedMail({ to: user.email, label, profileLink, resetLink: resetLinkOf(parts) }));
}

export function mailPhoneChanged(parts: AuthDeps, email: string): void {
  parts.mailer.send(phoneChangedMail({ to: email, resetLink: resetLinkOf(parts) }));
}

export function mailAddressChanged(parts: AuthDeps, oldEmail: string, newEmail: string): void {
  const { contact } = parts.config;
  parts.mailer.send(
    emailChangedMail({ to: oldEmail, newEmail, contact: contact.supportEmail ?? contact.email ?? null }),
  );
}

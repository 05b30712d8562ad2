/**
 * Issues the one-time tokens that emails carry, and queues the emails. A mail that follows another of its kind within
 * `mailIntervalMs` is dropped silently. Call these functions in `mailer.prepare`, after the response, where the
 * existence of an account is a secret.
 */
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import {
  accountExistsMail,
  confirmAddressMail,
  emailChangedMail,
  identityLinkedMail,
  identityUnlinkedMail,
  passwordChangedMail,
  phoneChangedMail,
  reauthenticationMail,
  recoveryMail,
  signInMail,
} from '#server/mail/account-emails.ts';
import type { MailMessage } from '#server/mail/mail-message.ts';
import type { AuthDeps } from '../auth-deps.ts';
import type { Account, UserRow } from '../accounts/accounts.ts';
import { claimMail } from './claim-mail.ts';
import type { SentColumn } from './claim-mail.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Device } from '../accounts/device.ts';
import { createFlow } from '../accounts/flows.ts';
import { issueOneTimeToken } from '../accounts/one-time-tokens.ts';
import type { SignInMethod } from '../accounts/sessions.ts';
import type { MailRequest, MailTarget } from './mail-request.ts';
import { mailLink } from './mail-links.ts';
import { securingOf, sendNotice } from './security-notice.ts';

const MAIL_INTERVAL_MS = 60_000;

/** The minimum time between two emails of the same kind to one user. */
export const mailIntervalMs = ({ config }: Pick<AuthDeps, 'config'>): number =>
  config.auth.rateLimits ? MAIL_INTERVAL_MS : 0;

const claimInterval = (deps: AuthDeps, service: AsService, userId: string, column: SentColumn): Promise<boolean> =>
  claimMail(service, { userId, column, intervalMs: mailIntervalMs(deps), now: deps.clock.now() });

/** Requires a transaction. Returns the id of the new flow; null for the implicit flow, which has none. */
export async function startMailFlow(
  deps: AuthDeps,
  transaction: AsService,
  { challenge, redirectTo }: MailTarget,
  method: SignInMethod,
): Promise<string | null> {
  if (challenge === null) return null;
  const flow = { method, challenge, redirectTo, now: deps.clock.now(), isMail: true };
  return (await createFlow(transaction, flow)).id;
}

type LinkMail = {
  type: 'signup' | 'magiclink' | 'recovery';
  column: SentColumn;
  /** Becomes the `amr` of a session that a PKCE client starts. */
  method: SignInMethod;
  compose: (mail: { to: string; link: string; code: string }) => MailMessage;
};

const CONFIRMATION: LinkMail = {
  type: 'signup',
  column: 'confirmation_sent_at',
  method: 'email/signup',
  compose: confirmAddressMail,
};
const SIGN_IN: LinkMail = {
  type: 'magiclink',
  column: 'magiclink_sent_at',
  method: 'magiclink',
  compose: signInMail,
};
const RECOVERY: LinkMail = {
  type: 'recovery',
  column: 'recovery_sent_at',
  method: 'recovery',
  compose: recoveryMail,
};

async function sendLink(
  deps: AuthDeps,
  user: UserRow,
  target: MailTarget & { device?: Device },
  mail: LinkMail,
): Promise<void> {
  const { email: to, id: userId } = user;
  if (to === null) return;
  const now = deps.clock.now();
  const { type, column, method } = mail;
  const issued = await deps.database.transactAsService('mail a link', async (transaction) => {
    if (!(await claimInterval(deps, transaction, userId, column))) return null;
    const flowId = await startMailFlow(deps, transaction, target, method);
    if (type === 'recovery') {
      const { device } = target;
      const entry = { at: now, userId, actor: 'guest', event: 'recovery_requested' } as const;
      await recordAuditEvent(transaction, { ...entry, ...(device && { device }) });
    }
    const key = deps.secrets.oneTimeCodes;
    return issueOneTimeToken(transaction, {
      userId,
      purpose: type,
      address: to,
      now,
      key,
      flowId,
      keepsEarlierLinks: true,
    });
  });
  if (issued === null) return;
  const link = mailLink(deps.config, type, issued.linkToken, target.redirectTo);
  deps.mailer.send(mail.compose({ to, link, code: issued.code }));
}

/** Sends the link and code that confirm a sign-up. */
export const mailConfirmation = (deps: AuthDeps, user: UserRow, target: MailTarget): Promise<void> =>
  sendLink(deps, user, target, CONFIRMATION);

/** Sends the link and code that sign in to a confirmed account. */
export const mailSignInLink = (deps: AuthDeps, user: UserRow, target: MailTarget): Promise<void> =>
  sendLink(deps, user, target, SIGN_IN);

export const mailRecovery = (deps: AuthDeps, user: UserRow, request: MailRequest): Promise<void> =>
  sendLink(deps, user, request, RECOVERY);

export async function mailReauthentication(deps: AuthDeps, service: AsService, account: Account): Promise<void> {
  const { email: to, id: userId } = account.user;
  if (to === null || !(await claimInterval(deps, service, userId, 'reauthentication_sent_at'))) return;
  const [now, key] = [deps.clock.now(), deps.secrets.oneTimeCodes];
  const { code } = await issueOneTimeToken(service, { userId, purpose: 'reauthentication', address: to, now, key });
  deps.mailer.send(reauthenticationMail({ to, code, securing: securingOf(deps.config, account) }));
}

/** Only the owner of a taken address learns of the attempt; the caller gets the same answer as for a free address. */
export async function mailAccountExists(deps: AuthDeps, service: AsService, owner: UserRow): Promise<void> {
  if (owner.email === null || !(await claimInterval(deps, service, owner.id, 'existing_account_notice_sent_at')))
    return;
  const { publicUrl } = deps.config;
  const [loginLink, resetLink] = [`${publicUrl}${ROUTES.login.path}`, `${publicUrl}${ROUTES.forgotPassword.path}`];
  const hasPassword = owner.password_hash !== null;
  deps.mailer.send(accountExistsMail({ to: owner.email, loginLink, resetLink, hasPassword }));
}

export const mailPasswordChanged = (deps: AuthDeps, user: UserRow): void => sendNotice(deps, user, passwordChangedMail);

/** @param label the provider's name, from the settings */
export function mailIdentityLinked(deps: AuthDeps, user: UserRow, label: string): void {
  if (user.email_confirmed_at === null) return;
  const profileLink = `${deps.config.publicUrl}${ROUTES.profile.path}`;
  sendNotice(deps, user, (notice) => identityLinkedMail({ ...notice, label, profileLink }));
}

export const mailPhoneChanged = (deps: AuthDeps, user: Pick<UserRow, 'id' | 'email'>): void =>
  sendNotice(deps, user, phoneChangedMail);

/** @param label the removed way to sign in, from the settings */
export function mailIdentityUnlinked(deps: AuthDeps, user: UserRow, label: string): void {
  if (user.email_confirmed_at === null) return;
  sendNotice(deps, user, (notice) => identityUnlinkedMail({ ...notice, label }));
}

export function mailAddressChanged(deps: AuthDeps, oldEmail: string, newEmail: string): void {
  const { contact } = deps.config;
  deps.mailer.send(
    emailChangedMail({ to: oldEmail, newEmail, contact: contact.supportEmail ?? contact.email ?? null }),
  );
}

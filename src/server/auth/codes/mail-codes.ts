/**
 * Issues the one-time tokens that emails carry, and queues the emails. A mail that follows another of its kind within
 * `mailIntervalMs`, or exceeds its recipient's limit (`limits.allowMail`), is dropped silently. Call these functions in
 * `mailer.prepare`, after the response, where the existence of an account is a secret.
 */
import type { Context } from 'hono';
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import {
  accountExistsMail,
  confirmAddressMail,
  reauthenticationMail,
  recoveryMail,
  signInMail,
} from '#server/mail/account-emails.ts';
import type { MailMessage } from '#server/mail/email-template.ts';
import type { Account, UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { claimMail, securingOf, type SentColumn } from '../accounts/security-notice.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { deviceOf, type Device } from '../http/device.ts';
import type { MailKind } from '../http/rate-limits.ts';
import { isOwnOrigin, redirectTarget } from '../http/redirects.ts';
import { createFlow, parseChallenge, type Challenge } from '../sessions/flows.ts';
import type { SignInMethod } from '../sessions/sessions.ts';
import { isPkceLink, issueOneTimeToken } from './one-time-tokens.ts';

const MAIL_INTERVAL_MS = 60_000;

/** The minimum time between two emails of the same kind to one user. */
export const mailIntervalMs = ({ config }: Pick<AuthDeps, 'config'>): number =>
  config.auth.rateLimits ? MAIL_INTERVAL_MS : 0;

type Claim = { user: UserRow; column: SentColumn; kind: MailKind };

/** Call it before a transaction, not within one: its counters need a connection besides the transaction's. */
async function maySend(deps: AuthDeps, { user, column, kind }: Claim): Promise<boolean> {
  const service = deps.database.asService('claim a mail');
  const claim = { userId: user.id, column, intervalMs: mailIntervalMs(deps), now: deps.clock.now() };
  if (user.email === null || !(await claimMail(service, claim))) return false;
  const to = { address: user.email, isProven: user.email_proven_at !== null };
  return (await deps.limits.allowMail(kind, to)) !== 'no';
}

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
const SIGN_IN: LinkMail = { type: 'magiclink', column: 'magiclink_sent_at', method: 'magiclink', compose: signInMail };
const RECOVERY: LinkMail = { type: 'recovery', column: 'recovery_sent_at', method: 'recovery', compose: recoveryMail };

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
  // The link of a PKCE flow works only in the browser that began the flow. That may be a stranger's browser, so the
  // mail counts as one that a stranger has caused.
  const kind = target.challenge === null ? 'entry' : 'stranger';
  if (!(await maySend(deps, { user, column, kind }))) return;
  const issued = await deps.database.transactAsService('mail a link', async (transaction) => {
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
  const link = mailLink(deps.config, type, issued.linkToken, target.redirectTo);
  deps.mailer.send(mail.compose({ to, link, code: issued.code }));
}

/** Sends the link and code that confirm a sign-up. */
export const mailConfirmation = (deps: AuthDeps, user: UserRow, target: MailTarget): Promise<void> =>
  sendLink(deps, user, target, CONFIRMATION);

/** Sends the link and code of a sign-in. */
export const mailSignInLink = (deps: AuthDeps, user: UserRow, target: MailTarget): Promise<void> =>
  sendLink(deps, user, target, SIGN_IN);

export const mailRecovery = (deps: AuthDeps, user: UserRow, request: MailRequest): Promise<void> =>
  sendLink(deps, user, request, RECOVERY);

export async function mailReauthentication(deps: AuthDeps, service: AsService, account: Account): Promise<void> {
  const { user } = account;
  const { email: to, id: userId } = user;
  const column = 'reauthentication_sent_at';
  if (to === null || !(await maySend(deps, { user, column, kind: 'notice' }))) return;
  const [now, key] = [deps.clock.now(), deps.secrets.oneTimeCodes];
  const { code } = await issueOneTimeToken(service, { userId, purpose: 'reauthentication', address: to, now, key });
  deps.mailer.send(reauthenticationMail({ to, code, securing: securingOf(deps.config, account) }));
}

/** Only the owner of a taken address learns of the attempt; the caller gets the same answer as for a free address. */
export async function mailAccountExists(deps: AuthDeps, owner: UserRow): Promise<void> {
  const column = 'existing_account_notice_sent_at';
  if (owner.email === null || !(await maySend(deps, { user: owner, column, kind: 'stranger' }))) return;
  const { publicUrl } = deps.config;
  const [loginLink, resetLink] = [`${publicUrl}${ROUTES.login.path}`, `${publicUrl}${ROUTES.forgotPassword.path}`];
  const hasPassword = owner.password_hash !== null;
  deps.mailer.send(accountExistsMail({ to: owner.email, loginLink, resetLink, hasPassword }));
}

/** The part of a request that a mailed link needs: where it leads, and the PKCE flow that it finishes. */
type MailTarget = {
  redirectTo: string;
  /** Null for the implicit flow. */
  challenge: Challenge | null;
};
export type MailRequest = MailTarget & { device: Device };

/** Throws `validation_failed` for a malformed PKCE challenge. */
export const readMailRequest = (context: Context<AppEnv>, deps: AuthDeps, body: Body): MailRequest => ({
  redirectTo: redirectTarget(context, deps.config),
  challenge: parseChallenge(body.text('code_challenge'), body.text('code_challenge_method')),
  device: deviceOf(context, deps),
});

export type LinkType = 'signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change';

const PAGES = {
  signup: ROUTES.login.path,
  invite: ROUTES.login.path,
  magiclink: ROUTES.login.path,
  recovery: ROUTES.resetPassword.path,
  email_change: ROUTES.login.path,
} as const satisfies Record<LinkType, string>;

/**
 * Returns the address of a mailed link. Mail scanners open every link, so a token is consumed only after a click. A
 * link to our own site opens one of our pages, which takes the token. The page of another application takes no token,
 * so its link opens GET /verify, whose button redirects to the application with a session. A PKCE client expects an
 * auth code, so its links open GET /verify too.
 */
export function mailLink(config: AuthDeps['config'], type: LinkType, linkToken: string, redirectTo: string): string {
  if (isOwnOrigin(redirectTo, config) && !isPkceLink(linkToken)) {
    return `${config.publicUrl}${PAGES[type]}?${new URLSearchParams({ token_hash: linkToken, type }).toString()}`;
  }
  const query = new URLSearchParams({ token: linkToken, type, redirect_to: redirectTo });
  return `${config.publicUrl}/auth/v1/verify?${query.toString()}`;
}

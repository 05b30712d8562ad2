/** Notices to the owner of an account, with the advice for an owner who did not make the change. */
import { securingAdvice } from '#domain/account/securing-advice.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { deletionUndoneMail } from '#server/mail/account-emails.ts';
import type { MailMessage, Securing } from '#server/mail/email-template.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { MailKind } from '../http/rate-limits.ts';
import { accountQuery, toAccount, type Account, type IdentityRow, type UserRow } from './accounts.ts';

export type MailDeps = Pick<AuthDeps, 'config' | 'mailer' | 'clock' | 'database' | 'limits'>;
type Notice = { to: string; securing: Securing };

/**
 * Reads the account and sends after the response, so the advice fits the account after the change. Sends nothing above
 * the recipient's mail limit (`limits.allowMail`); the last allowed mail says that it is the last.
 *
 * @param kind null for a mail that the caller has counted towards that limit
 * @param user the account before the change: the mail goes to its address
 */
export function sendNotice(
  deps: MailDeps,
  user: Pick<UserRow, 'id' | 'email'>,
  compose: (notice: Notice, account: Account) => MailMessage,
  kind: MailKind | null = 'notice',
): void {
  const { id, email: to } = user;
  if (to === null) return;
  deps.mailer.prepare(async () => {
    const account = await findAccount(deps.database.asService('advise an owner'), id);
    if (!account) return;
    const recipient = { address: to, isProven: account.user.email_proven_at !== null };
    const allowed = kind === null ? 'yes' : await deps.limits.allowMail(kind, recipient);
    if (allowed === 'no') return;
    const securing = { ...securingOf(deps.config, account), isLast: allowed === 'last' };
    deps.mailer.send(compose({ to, securing }, account));
  });
}

/** Sends a finished notice that the owner must not miss: it has a share of the address's mails of its own. */
export const sendUrgent = (deps: Pick<MailDeps, 'mailer' | 'limits'>, address: string, message: MailMessage): void =>
  deps.mailer.prepare(async () => {
    if ((await deps.limits.allowMail('urgent', { address, isProven: true })) !== 'no') deps.mailer.send(message);
  });

/** Null if the account is gone. */
export async function findAccount(service: AsService, userId: string): Promise<Account | null> {
  const [row] = await service.run(accountQuery(userId));
  return row ? toAccount(row) : null;
}

export function securingOf({ publicUrl, auth }: AuthDeps['config'], { user, identities }: Account): Securing {
  const services = [...new Set(identities.map(({ provider }) => describeService(auth.oauthProviders, provider)))];
  const advice = securingAdvice({
    hasPassword: user.password_hash !== null,
    services: services.filter((service) => service !== null),
  });
  return { ...advice, page: { label: advice.page.label, link: `${publicUrl}${advice.page.path}` } };
}

type Provider = { name: string; label: string };

/** Names the account at a third party that the owner should secure; null for the address and the number. */
function describeService(providers: readonly Provider[], name: IdentityRow['provider']): string | null {
  if (name === 'email' || name === 'phone') return null;
  if (name === 'web3') return 'your wallet';
  if (name.startsWith('sso:')) return 'your account at your organization';
  return `your ${providerLabel(providers, name)} account`;
}

export const providerLabel = (providers: readonly Provider[], name: string): string =>
  providers.find((provider) => provider.name === name)?.label ?? name;

export const mailDeletionUndone = (deps: MailDeps, user: Pick<UserRow, 'id' | 'email'>): void =>
  sendNotice(deps, user, deletionUndoneMail);

/** The columns of `auth.users` that hold when a message of some kind was last sent to the user. */
export type SentColumn =
  | 'confirmation_sent_at'
  | 'recovery_sent_at'
  | 'reauthentication_sent_at'
  | 'email_change_sent_at'
  | 'existing_account_notice_sent_at'
  | 'phone_change_sent_at'
  | 'magiclink_sent_at'
  | 'new_device_notice_sent_at'
  | 'factor_guess_notice_sent_at';

/**
 * Returns whether a mail of this kind may be sent now. One statement checks the minimum interval and records the time,
 * so only one of two concurrent requests sends. `intervalMs` 0 allows every mail, also if the recorded time is later
 * than `now`.
 */
export async function claimMail(
  service: AsService,
  claim: { userId: string; column: SentColumn; intervalMs: number; now: Date },
): Promise<boolean> {
  const latest = new Date(claim.now.getTime() - claim.intervalMs);
  const rows = await service.run(
    queryBuilder
      .updateTable('auth.users')
      .set({ [claim.column]: claim.now })
      .where('id', '=', claim.userId)
      .$if(claim.intervalMs > 0, (query) =>
        query.where((row) => row.or([row(claim.column, 'is', null), row(claim.column, '<=', latest)])),
      )
      .returning('id'),
  );
  return rows.length > 0;
}

/** Notices to the owner of an account, with the advice for an owner who did not make the change. */
import { securingAdvice } from '#domain/account/securing-advice.ts';
import type { AsService } from '#server/database/database.ts';
import type { MailMessage } from '#server/mail/mail-message.ts';
import type { Securing } from '#server/mail/securing-blocks.ts';
import { accountQuery, toAccount, type Account, type IdentityRow, type UserRow } from './accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { MailKind } from '../http/rate-limits.ts';

export type MailDeps = Pick<AuthDeps, 'config' | 'mailer' | 'clock' | 'database' | 'limits'>;
export type Notice = { to: string; securing: Securing };

/**
 * Reads the account and sends after the response, so the advice fits the account after the change. Sends nothing beyond
 * the mails of the recipient (`limits.allowMail`); the last one says so.
 *
 * @param kind null for a mail that the caller has counted
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

/** Sends a notice that its reader must not miss, and that needs no account. The address has been proven. */
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

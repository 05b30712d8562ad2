/**
 * Gives an account to the first person who proves its address (docs/specification/accounts.md 17).
 *
 * Threat: pre-hijacking. With AUTH_AUTOCONFIRM a stranger signs up with another person's address and adds a passkey, an
 * authenticator, a phone number or a provider's identity, which outlive the owner's new password. The first mailed link
 * or code, or the first sign-in with a provider that has verified the address, therefore ends every session and removes
 * every earlier way to sign in. A request that adds a way to sign in locks the user's row and then checks its session,
 * so a request of the stranger in flight either commits first and is undone here, or finds its session ended.
 */
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { accountClaimedMail } from '#server/mail/account-emails.ts';
import { updateUser, type UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { sendUrgent } from '../accounts/security-notice.ts';
import { deleteSignInMethods } from '../accounts/sign-in-methods.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { endSessions } from '../sessions/sessions.ts';
import { deleteOneTimeTokens } from './one-time-tokens.ts';

export type Claim = {
  /** For `AccessTokens.invalidateSessions`. */
  endedSessions: string[];
  /** Somebody had signed in to the account, so its owner gets a mail. */
  wasInUse: boolean;
};

type Proof = { method: string; device: Device; now: Date };

/**
 * True if the next proof of the address claims the account. False for an account that is in use by phone and has never
 * confirmed its address: it belongs to the phone's owner. False for a SAML account, whose provider alone vouches for
 * it.
 */
export const isUnproven = (user: UserRow): boolean =>
  user.email !== null &&
  user.email_proven_at === null &&
  !user.is_sso_user &&
  (user.email_confirmed_at !== null || user.phone_confirmed_at === null);

/**
 * Tables whose rows give access without a session; `endSessions` deletes the personal access tokens. Threat: the
 * stranger's Slack writes to the owner's journal, the token of a notification fills an empty day, and a link shows what
 * the owner writes into the stranger's document.
 */
const SESSIONLESS_TABLES = ['slack_links', 'mail_tokens', 'document_links'] as const;

/**
 * Requires a transaction that has locked the user's row. Ends every session, link, code and flow, cancels pending
 * changes, removes the password, the phone number, identities, passkeys, second factors, recovery codes, linked Slack
 * users, read-only links and tokens of reminders, turns reminders off, and takes back the consent to the coach. The
 * journal stays. The caller then stores the proven address or identity.
 */
export async function claimAccount(
  transaction: AsService,
  user: UserRow,
  { method, device, now }: Proof,
): Promise<Claim> {
  const endedSessions = await endSessions(transaction, user.id, { all: true });
  await deleteOneTimeTokens(transaction, user.id);
  await deleteSignInMethods(transaction, user.id);
  for (const table of SESSIONLESS_TABLES)
    await transaction.statement(`delete from public.${table} where user_id = $1`, [user.id]);
  const { phone: _phone, ...metadata } = user.raw_user_meta_data;
  await updateUser(transaction, user.id, {
    password_hash: null,
    phone: null,
    phone_confirmed_at: null,
    raw_user_meta_data: JSON.stringify(metadata),
    updated_at: now,
  });
  // Threat: the stranger agrees that the owner's logs are sent to a model.
  await transaction.run(queryBuilder.updateTable('profiles').set({ ai_consent: false }).where('id', '=', user.id));
  // Threat: the stranger has turned on mails that quote the logs, and the owner asked for none.
  await transaction.statement(
    `update public.preferences set remind_by_mail = false, remind_by_push = false, digest = false, digest_review = false
      where user_id = $1`,
    [user.id],
  );
  const wasInUse = user.last_sign_in_at !== null;
  if (wasInUse) {
    const details = { method, sessions: endedSessions.length };
    await recordAuditEvent(transaction, {
      at: now,
      userId: user.id,
      actor: 'user',
      event: 'account_claimed',
      device,
      details,
    });
  }
  return { endedSessions, wasInUse };
}

/**
 * Makes this process refuse the ended sessions at once, and mails the owner (docs/specification/accounts.md 17).
 *
 * Call after the transaction that claimed the account. Sends no mail about an account that nobody had used.
 */
export function announceClaim(deps: AuthDeps, { email }: Pick<UserRow, 'email'>, claim: Claim): void {
  deps.accessTokens.invalidateSessions(claim.endedSessions);
  if (email === null || !claim.wasInUse) return;
  const link = (path: string): string => `${deps.config.publicUrl}${path}`;
  const links = { resetLink: link(ROUTES.forgotPassword.path), profileLink: link(ROUTES.profile.path) };
  sendUrgent(deps, email, accountClaimedMail({ to: email, ...links }));
}

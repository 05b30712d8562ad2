/**
 * The pending change of a user's address (docs/specification/api.md 13). The current and the new address each get a
 * mail with a token of its own, and the change counts once both are confirmed. A user without an address confirms the
 * new one.
 *
 * Threat: account enumeration. The tokens are issued in the request, for a free and a taken address alike. Only the
 * choice of the mail depends on the owner of the address, and that happens after the response.
 */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import {
  addAddressMail,
  confirmNewAddressMail,
  confirmOldAddressMail,
  emailChangedMail,
} from '#server/mail/account-emails.ts';
import { findUserByEmail, updateUser, type UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEntry } from '../accounts/audit-log.ts';
import { findAccount, securingOf, sendUrgent } from '../accounts/security-notice.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { mailAccountExists, mailLink, startMailFlow, type MailRequest } from './mail-codes.ts';
import { endCode, endTokens, issueOneTimeToken, type IssuedToken } from './one-time-tokens.ts';

/** One of the two confirmations of a change. `purpose` tells which of the two addresses its token confirms. */
type Half = { purpose: 'email_change_current' | 'email_change_new'; address: string };
type IssuedHalf = Half & IssuedToken;

type PendingChange = { user: Pick<UserRow, 'id' | 'email'>; newEmail: string };

type AddressChange = PendingChange & {
  request: MailRequest;
  /** For the audit log; the user unless set. */
  actor?: AuditEntry['actor'];
};

const halvesOf = ({ user, newEmail }: PendingChange): Half[] => [
  ...(user.email === null ? [] : [{ purpose: 'email_change_current', address: user.email } as const]),
  { purpose: 'email_change_new', address: newEmail },
];

/** Requires a transaction. Replaces a change that is pending: its links, codes and confirmations end. */
export async function beginAddressChange(
  deps: AuthDeps,
  transaction: AsService,
  change: AddressChange,
): Promise<IssuedHalf[]> {
  const { user, newEmail, request, actor = 'user' } = change;
  const now = deps.clock.now();
  await updateUser(transaction, user.id, { new_email: newEmail, updated_at: now });
  const entry = { at: now, userId: user.id, actor, event: 'address_change_requested' } as const;
  await recordAuditEvent(transaction, { ...entry, device: request.device });
  return issueHalves(deps, transaction, change, { halves: halvesOf(change), keepsEarlierLinks: false });
}

/**
 * Requires a transaction. Issues tokens for the addresses that are not confirmed yet. Keeps confirmations and earlier
 * links: a stranger can ask for these mails too, and must not undo a step of the owner.
 */
export async function repeatAddressChange(
  deps: AuthDeps,
  transaction: AsService,
  change: AddressChange,
): Promise<IssuedHalf[]> {
  const halves = await findOpenHalves(transaction, change, deps.clock.now());
  return issueHalves(deps, transaction, change, { halves, keepsEarlierLinks: true });
}

/** The halves that have not been confirmed, or whose confirmation has expired. */
export async function findOpenHalves(service: AsService, change: PendingChange, now: Date): Promise<Half[]> {
  const confirmed = await service.run(
    queryBuilder
      .selectFrom('auth.one_time_tokens')
      .select(['purpose', 'address'])
      .where('user_id', '=', change.user.id)
      .where('confirmed_at', 'is not', null)
      .where('expires_at', '>', now),
  );
  return halvesOf(change).filter(
    (half) => !confirmed.some(({ purpose, address }) => purpose === half.purpose && address === half.address),
  );
}

/** Requires a transaction. No-op if no change is pending. */
export async function cancelAddressChange(
  transaction: AsService,
  { userId, device, now }: { userId: string; device: Device; now: Date },
): Promise<void> {
  const cancelled = await transaction.run(
    queryBuilder
      .updateTable('auth.users')
      .set({ new_email: null, updated_at: now })
      .where('id', '=', userId)
      .where('new_email', 'is not', null)
      .returning('id'),
  );
  if (cancelled.length === 0) return;
  await endTokens(transaction, { userId, purposes: ['email_change_current', 'email_change_new'], now });
  await recordAuditEvent(transaction, { at: now, userId, actor: 'user', event: 'address_change_cancelled', device });
}

async function issueHalves(
  deps: AuthDeps,
  transaction: AsService,
  { user, request }: AddressChange,
  { halves, keepsEarlierLinks }: { halves: Half[]; keepsEarlierLinks: boolean },
): Promise<IssuedHalf[]> {
  const flowId = await startMailFlow(deps, transaction, request, 'email_change');
  const common = { userId: user.id, now: deps.clock.now(), key: deps.secrets.oneTimeCodes, flowId, keepsEarlierLinks };
  const issued: IssuedHalf[] = [];
  for (const half of halves)
    issued.push({ ...half, ...(await issueOneTimeToken(transaction, { ...common, ...half })) });
  return issued;
}

/**
 * Call after the response. The owner of a taken address gets a notice instead of a link: the change can never be
 * completed, and the signed-in user does not learn that the address is taken.
 */
export async function mailAddressChange(
  deps: AuthDeps,
  { user, newEmail, request }: AddressChange,
  halves: readonly IssuedHalf[],
): Promise<void> {
  const service = deps.database.asService('mail an address change');
  const account = await findAccount(service, user.id);
  if (!account) return;
  const securing = securingOf(deps.config, account);
  for (const { purpose, address, linkToken, code } of halves) {
    const link = mailLink(deps.config, 'email_change', linkToken, request.redirectTo);
    const isCurrent = purpose === 'email_change_current';
    const owner = isCurrent ? null : await findUserByEmail(service, address);
    // An account that never confirmed the address does not own it: confirming the change takes it from that account.
    if (owner && owner.email_confirmed_at !== null) {
      await mailAccountExists(deps, owner);
      continue;
    }
    const isProven = isCurrent && account.user.email_proven_at !== null;
    if ((await deps.limits.allowMail(isCurrent ? 'notice' : 'stranger', { address, isProven })) === 'no') {
      // No mail is sent, so the code must not work. Threat: a guess is compared with the codes of all accounts that
      // want this address. An attacker with a thousand accounts would guess at a thousand codes at once.
      await endCode(service, { userId: user.id, purpose, address });
    } else if (isCurrent) {
      deps.mailer.send(confirmOldAddressMail({ to: address, newEmail, link, code, securing }));
    } else {
      deps.mailer.send((user.email === null ? addAddressMail : confirmNewAddressMail)({ to: address, link, code }));
    }
  }
}

export function mailAddressChanged(deps: AuthDeps, oldEmail: string, newEmail: string): void {
  const { supportEmail, email } = deps.config.contact;
  sendUrgent(deps, oldEmail, emailChangedMail({ to: oldEmail, newEmail, contact: supportEmail ?? email ?? null }));
}

/** Notices about second factors, recovery codes and passkeys. Only `mailFactorGuesses` has a minimum interval. */
import type { FactorType } from '#server/database/tables.ts';
import {
  factorAddedMail,
  factorGuessesMail,
  factorPhoneChangedMail,
  factorRemovedMail,
  passkeyAddedMail,
  passkeyRemovedMail,
  recoveryCodesCreatedMail,
  recoveryCodeUsedMail,
} from '#server/mail/account-emails.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { claimMail, sendNotice, type MailDeps } from '../accounts/security-notice.ts';

const GUESS_NOTICE_INTERVAL_MS = 24 * 3_600_000;

export const mailFactorAdded = (deps: MailDeps, user: UserRow, type: FactorType): void =>
  sendNotice(deps, user, (notice) => factorAddedMail({ ...notice, type }));

export const mailFactorRemoved = (deps: MailDeps, user: UserRow, type: FactorType): void =>
  sendNotice(deps, user, (notice, { factors }) => {
    const remainingTypes = factors.filter(({ status }) => status === 'verified').map(({ factor_type: kind }) => kind);
    return factorRemovedMail({ ...notice, type, remainingTypes });
  });

export const mailFactorPhoneChanged = (deps: MailDeps, user: UserRow): void =>
  sendNotice(deps, user, factorPhoneChangedMail);

export const mailPasskeyAdded = (deps: MailDeps, user: UserRow): void => sendNotice(deps, user, passkeyAddedMail);

export const mailPasskeyRemoved = (deps: MailDeps, user: UserRow): void => sendNotice(deps, user, passkeyRemovedMail);

export const mailRecoveryCodesCreated = (deps: MailDeps, user: UserRow): void =>
  sendNotice(deps, user, recoveryCodesCreatedMail);

export const mailRecoveryCodeUsed = (deps: MailDeps, user: UserRow, remaining: number): void =>
  sendNotice(deps, user, (notice) => recoveryCodeUsedMail({ ...notice, remaining }));

/** Sends at most one notice a day to a user. */
export async function mailFactorGuesses(deps: MailDeps, user: UserRow): Promise<void> {
  const service = deps.database.asService('tell of guessed codes');
  const [userId, now] = [user.id, deps.clock.now()];
  const column = 'factor_guess_notice_sent_at' as const;
  if (await claimMail(service, { userId, column, intervalMs: GUESS_NOTICE_INTERVAL_MS, now }))
    sendNotice(deps, user, factorGuessesMail);
}

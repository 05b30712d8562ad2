/**
 * A contact: the address or the number of an account that may not exist yet. Signing up and requesting a code are
 * written once for both; here is what differs in finding and creating the account. Also issues the texted codes.
 */
import type { AsService } from '#server/database/database.ts';
import type { JsonObject } from '#server/database/tables.ts';
import {
  clearUnconfirmedPassword,
  findUserByEmail,
  findUserByPhone,
  updateUser,
  createAccountIfFree,
  type Account,
  type UserRow,
} from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { clearUnprovenPassword, createPhoneAccount } from '../phone/phone-accounts.ts';
import { phoneChangeText, reauthenticationText, signInText } from '../phone/send-text.ts';
import { issueOneTimeToken } from './one-time-tokens.ts';

type NewAccount = {
  passwordHash: string | null;
  data: JsonObject;
  method: 'password' | 'otp';
  device: Device;
  now: Date;
};

export type Contact = {
  value: string;
  find(service: AsService): Promise<UserRow | null>;
  isConfirmed(user: UserRow): boolean;
  /** Takes the password from an unconfirmed account that a stranger may have made. */
  clearPassword(service: AsService, existing: UserRow): Promise<void>;
  /** Requires a transaction. Null if a concurrent request took the address or the number. */
  create(transaction: AsService, account: NewAccount): Promise<Account | null>;
};

export const addressContact = (email: string): Contact => ({
  value: email,
  find: (service) => findUserByEmail(service, email),
  isConfirmed: (user) => user.email_confirmed_at !== null,
  clearPassword: (service, existing) => clearUnconfirmedPassword(service, existing.id),
  create: (transaction, account) => createAccountIfFree(transaction, { ...account, email, confirmed: false }),
});

export const numberContact = (phone: string): Contact => ({
  value: phone,
  find: (service) => findUserByPhone(service, phone),
  isConfirmed: (user) => user.phone_confirmed_at !== null,
  clearPassword: (service) => clearUnprovenPassword(service, phone),
  create: (transaction, { passwordHash, data, now }) =>
    createPhoneAccount(transaction, { phone, passwordHash, data, now }),
});

type Creation = {
  contact: Contact;
  /** Null if the caller has found no account. */
  existing: UserRow | null;
  account: NewAccount;
};

/** Returns the user and the account that this call has created. `user` is null if another request has just deleted it. */
export async function findOrCreateAccount(
  { database }: Pick<AuthDeps, 'database'>,
  { contact, existing, account }: Creation,
): Promise<{ user: UserRow | null; created: Account | null }> {
  if (existing !== null) return { user: existing, created: null };
  const created = await database.transactAsService('sign up', (transaction) => contact.create(transaction, account));
  return { user: created?.user ?? (await contact.find(database.asService('sign up'))), created };
}

/** Texted codes: valid for one minute, otherwise like mailed codes (docs/specification/api.md 26). */
const LIFETIME_SECONDS = 60;

const TEXTS = { sms: signInText, phone_change: phoneChangeText, reauthentication: reauthenticationText } as const;

type PhoneCode = { userId: string; purpose: keyof typeof TEXTS; phone: string };

/** Replaces the user's code of this purpose and returns the text that carries the new one. */
export async function issuePhoneCode(deps: AuthDeps, service: AsService, { userId, purpose, phone }: PhoneCode) {
  const { code } = await issueOneTimeToken(service, {
    userId,
    purpose,
    address: phone,
    now: deps.clock.now(),
    key: deps.secrets.oneTimeCodes,
    lifetimeSeconds: LIFETIME_SECONDS,
  });
  return TEXTS[purpose]({ code, publicUrl: deps.config.publicUrl });
}

/** Issues the code that signs the user in. It also confirms a number that was never confirmed. */
export async function issueSignInCode(deps: AuthDeps, service: AsService, user: UserRow, phone: string) {
  if (user.phone_confirmed_at === null) {
    await updateUser(service, user.id, { confirmation_sent_at: deps.clock.now() });
  }
  return issuePhoneCode(deps, service, { userId: user.id, purpose: 'sms', phone });
}

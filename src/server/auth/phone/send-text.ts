/**
 * Sends a text message within its budgets (docs/specification/limits.md 2).
 *
 * Threat: SMS pumping. An attacker has codes sent to numbers that earn a share of the fee. Numbers outside
 * SMS_COUNTRIES get none; each number, each network address and the whole server have budgets. A number's budget counts
 * whether or not the number has an account, so a 429 does not reveal one.
 */
import { createHmac } from 'node:crypto';
import { SmsError, type SmsFailure } from '#server/sms-sender.ts';
import type { Account } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { isInAllowedCountry } from '../http/credentials.ts';
import type { TextAsker, TextShare } from '../http/rate-limits.ts';
import { startPadding } from '../http/response-padding.ts';
import { deleteUnconfirmedAccount } from './phone-accounts.ts';

export type Recipient = {
  /** A number as `parsePhone` returns it. */
  phone: string;
  /** The network address that asks for the text. */
  ip: string;
  /** Default: `guest`. */
  asker?: TextAsker;
};

/**
 * Call before the account is looked up. Throws `sms_send_failed` for a country without texts, and
 * `over_sms_send_rate_limit`.
 */
export async function consumeRecipientBudget(deps: AuthDeps, { phone, ip, asker = 'guest' }: Recipient): Promise<void> {
  const { config, limits } = deps;
  if (config.auth.sms && !isInAllowedCountry(phone, config.auth.sms))
    throw new AuthError(422, 'sms_send_failed', 'Error sending sms: texts to this country are not possible');
  await limits.consumeSmsRecipient(recipientKey(deps, phone), ip, asker);
}

/** An HMAC, so that the counters store no number. */
const recipientKey = ({ secrets }: Pick<AuthDeps, 'secrets'>, phone: string): string =>
  createHmac('sha256', secrets.oneTimeCodes).update(`sms-recipient\0${phone}`).digest('base64url');

export type TextMessage = { phone: string; text: string; share: TextShare };

/**
 * The caller has called `consumeRecipientBudget` for a text that somebody asked for. Throws `sms_send_failed`, and
 * `over_sms_send_rate_limit` if the server's budget is used up.
 */
export async function sendText(deps: SendDeps, { phone, text, share }: TextMessage): Promise<void> {
  await deps.limits.consumeSmsServer(share === 'open' ? null : { asker: share, recipient: recipientKey(deps, phone) });
  await deliverText(deps, { phone, text });
}

type SendDeps = Pick<AuthDeps, 'limits' | 'secrets' | 'sms'>;

async function deliverText(deps: SendDeps, { phone, text }: Omit<TextMessage, 'share'>): Promise<void> {
  if (deps.sms === null) throw new AuthError('sms_send_failed', FAILURES.misconfigured);
  try {
    await deps.sms.send({ to: `+${phone}`, text });
  } catch (error) {
    if (!(error instanceof SmsError)) throw error;
    throw new AuthError('sms_send_failed', FAILURES[error.reason]);
  }
}

const NOT_NOW = 'please try again later';
const FAILURES: Readonly<Record<SmsFailure, string>> = {
  bad_number: 'this number cannot receive texts',
  opted_out: 'this number has unsubscribed from our texts',
  blocked_country: 'texts to this country are not possible',
  rejected: 'this number cannot receive texts',
  misconfigured: NOT_NOW,
  overloaded: NOT_NOW,
  unavailable: NOT_NOW,
};

type SignUpText = {
  phone: string;
  text: string;
  /** The account that this request has created; null if the number had one. */
  created: Account | null;
  device: Device;
};

/**
 * Sends a text that the caller has counted. Records the sign-up only once the provider has accepted the text,
 * and deletes the created account if it has not: a number that gets no texts leaves nothing behind. Threat: the time of
 * the answer would reveal which numbers have an account. So the time of the deletion is padded, and the event is
 * recorded after the response.
 */
export async function sendSignUpText(deps: AuthDeps, { phone, text, created, device }: SignUpText): Promise<void> {
  try {
    await deliverText(deps, { phone, text });
    if (created) deps.background.run(() => recordPhoneSignUp(deps, created.user.id, device));
  } catch (error) {
    const padding = startPadding();
    if (created) await deleteUnconfirmedAccount(deps.database.asService('undo a sign-up'), created.user.id);
    await padding.finish();
    throw error;
  }
}

function recordPhoneSignUp({ database, clock }: AuthDeps, userId: string, device: Device): Promise<void> {
  const details = { provider: 'phone' };
  const entry = { at: clock.now(), userId, actor: 'user', event: 'signed_up', device, details } as const;
  return recordAuditEvent(database.asService('record a sign-up'), entry);
}

/** Sends a text after the response, whose time must not reveal whether one is sent. Logs a failure. */
export function sendTextLater(deps: AuthDeps, prepare: () => Promise<TextMessage | null>): void {
  deps.background.run(async () => {
    try {
      const message = await prepare();
      if (message !== null) await sendText(deps, message);
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      // The sender has logged the provider's answer, if there was one.
      deps.log.warn({ sms: 'dropped', code: error.code }, 'text dropped');
    }
  });
}

// The text messages. Threat: a text must not contain user input, or an attacker could send arbitrary words in our name.

type Codes = { code: string; publicUrl: string };

/**
 * The last line of a text with a code. It binds the code to our host (WebOTP), so a phone fills the code in on our
 * pages only and not on a phishing page.
 */
const bindToHost = ({ code, publicUrl }: Codes): string => `@${new URL(publicUrl).hostname} #${code}`;

export const signInText = (given: Codes): string =>
  `Hustle Forge: ${given.code} is your code to sign in. It works for one minute. Never share it.\n\n${bindToHost(given)}`;

export const phoneChangeText = (given: Codes): string =>
  `Hustle Forge: ${given.code} adds this number to the account of the person who asked for it. Use it only if that was you.\n\n${bindToHost(given)}`;

export const reauthenticationText = (given: Codes): string =>
  `Hustle Forge: ${given.code} is your code to change your sign-in. If you did not ask for it, change your password.\n\n${bindToHost(given)}`;

export const secondStepText = (given: Codes): string =>
  `Hustle Forge: ${given.code} is the code for the second step of your sign-in. Never share it. If you did not sign in, change your password.\n\n${bindToHost(given)}`;

export const accountExistsText = (loginLink: string): string =>
  `Hustle Forge: someone tried to sign up with this number, which already has an account. If it was you, sign in: ${loginLink}`;

export const phoneChangedText = (loginLink: string): string =>
  `Hustle Forge: your account now uses another phone number. If this was not you, change your password: ${loginLink}`;

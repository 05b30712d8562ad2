/**
 * Sends a text message within its budgets (docs/specification/limits.md 2).
 *
 * Threat: SMS pumping. An attacker has codes sent to numbers that earn a share of the fee. Numbers outside
 * SMS_COUNTRIES get none; each number, each network address and the whole server have budgets. A number's budget counts
 * whether or not the number has an account, so neither a text nor a 429 reveals one.
 */
import { createHmac } from 'node:crypto';
import { SmsError } from '#server/sms/sms-sender.ts';
import type { SmsFailure } from '#server/sms/sms-sender.ts';
import type { Account } from '../accounts/accounts.ts';
import type { AuthDeps } from '../auth-deps.ts';
import { AuthError } from '../wire/errors.ts';
import { startPadding } from '../response-padding.ts';
import { deleteUnconfirmedAccount } from './phone-accounts.ts';
import { isInAllowedCountry } from './phone-number.ts';

export type Recipient = {
  /** From `parsePhone`. */
  phone: string;
  /** The network address that asks for the text. */
  ip: string;
};

/**
 * Call before the account is looked up. Throws `sms_send_failed` for a country without texts, and
 * `over_sms_send_rate_limit`.
 */
export async function consumeRecipientBudget(deps: AuthDeps, { phone, ip }: Recipient): Promise<void> {
  const { config, limits, secrets } = deps;
  if (config.auth.sms && !isInAllowedCountry(phone, config.auth.sms)) throw new AuthError('sms_country_blocked');
  const recipient = createHmac('sha256', secrets.oneTimeCodes).update(`sms-recipient\0${phone}`).digest('base64url');
  await limits.consumeSmsRecipient(recipient, ip);
}

/**
 * The caller has called `consumeRecipientBudget`. Throws `sms_send_failed`, and `over_sms_send_rate_limit` if the
 * server's budget is used up.
 */
export async function sendText(deps: Pick<AuthDeps, 'limits' | 'sms'>, phone: string, text: string): Promise<void> {
  if (deps.sms === null) throw new AuthError('sms_send_failed', FAILURES.misconfigured);
  await deps.limits.consumeSmsServer();
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

/**
 * Deletes the account that this request has created if its text cannot be sent. Threat: once the server's budget is
 * used up, the time of the refusal would reveal which numbers have an account. So the time of the deletion is padded.
 */
export async function undoOnFailure(deps: AuthDeps, created: Account | null, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    const padding = startPadding();
    if (created) await deleteUnconfirmedAccount(deps.database.asService('undo a sign-up'), created.user.id);
    await padding.finish();
    throw error;
  }
}

/** Sends a text after the response, whose time must not reveal whether one is sent. Logs a failure. */
export function sendTextLater(deps: AuthDeps, prepare: () => Promise<{ phone: string; text: string } | null>): void {
  deps.background.run(async () => {
    try {
      const message = await prepare();
      if (message !== null) await sendText(deps, message.phone, message.text);
    } catch (error) {
      // The sender has logged the provider's answer.
      if (!(error instanceof AuthError)) throw error;
      deps.log.warn({ sms: 'dropped', code: error.code }, 'text dropped');
    }
  });
}

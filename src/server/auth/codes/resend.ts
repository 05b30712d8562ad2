/** POST /resend: repeats the mail or text of a sign-up or of an address change (docs/specification/wire.md 14, 26). */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { findUserByEmail, findUserById, findUserByPhone, updateUser } from '../accounts/accounts.ts';
import { claimMail } from '../accounts/security-notice.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { parseEmail } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { parsePhone } from '../http/phone-number.ts';
import { consumeRecipientBudget, sendTextLater, type Recipient, type TextMessage } from '../phone/send-text.ts';
import { mailAddressChange, repeatAddressChange } from './address-change.ts';
import { mailConfirmation, mailIntervalMs, readMailRequest, type MailRequest } from './mail-codes.ts';
import { issuePhoneCode, issueSignInCode } from './text-codes.ts';

type MailType = 'signup' | 'email_change';

export const resend: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const type = body.text('type');
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (type === 'sms' || type === 'phone_change') return resendPhoneCode(context, deps, { type, body, device });
  if (type !== 'signup' && type !== 'email_change')
    throw invalidRequest('Missing one of these types: signup, email_change, sms, phone_change');
  if (email === '') throw new AuthError(phone === '' ? 'resend_without_address' : 'resend_needs_email');
  const address = parseEmail(email);
  const request = readMailRequest(context, deps, body);
  // The account is looked up after the response, which therefore does not reveal whether the account exists.
  deps.mailer.prepare(() => resendMail(deps, type, address, request));
  return context.json({});
};

async function resendMail(deps: AuthDeps, type: MailType, address: string, request: MailRequest): Promise<void> {
  const user = await findUserByEmail(deps.database.asService('resend a mail'), address);
  if (!user) return;
  if (type === 'signup') {
    if (user.email_confirmed_at === null) await mailConfirmation(deps, user, request);
    return;
  }
  if (user.new_email !== null) await resendAddressChange(deps, user.id, request);
}

async function resendAddressChange(deps: AuthDeps, userId: string, request: MailRequest): Promise<void> {
  const claim = { userId, column: 'email_change_sent_at', intervalMs: mailIntervalMs(deps) } as const;
  const repeated = await deps.database.transactAsService('resend an address change', async (transaction) => {
    if (!(await claimMail(transaction, { ...claim, now: deps.clock.now() }))) return null;
    // Reads the user again: only now, after the claim has locked the row, is `new_email` certain.
    const user = await findUserById(transaction, userId);
    if (!user || user.new_email === null) return null;
    const change = { user, newEmail: user.new_email, request };
    return { change, halves: await repeatAddressChange(deps, transaction, change) };
  });
  if (repeated) await mailAddressChange(deps, repeated.change, repeated.halves);
}

/** `sms` repeats the code of a sign-up, `phone_change` that of a change of number. */
async function resendPhoneCode(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { type, body, device }: { type: 'sms' | 'phone_change'; body: Body; device: Device },
): Promise<Response> {
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  if (body.text('phone') === '')
    throw new AuthError(body.text('email') === '' ? 'resend_without_address' : 'resend_needs_phone');
  const phone = parsePhone(body.text('phone'));
  const recipient = { phone, ip: device.ip };
  await consumeRecipientBudget(deps, recipient);
  sendTextLater(deps, () => (type === 'sms' ? prepareConfirmation(deps, phone) : prepareChange(deps, recipient)));
  return context.json({});
}

async function prepareConfirmation(deps: AuthDeps, phone: string): Promise<TextMessage | null> {
  const service = deps.database.asService('resend a text');
  const user = await findUserByPhone(service, phone);
  if (!user || user.phone_confirmed_at !== null) return null;
  return { phone, share: 'open', text: await issueSignInCode(deps, service, user, phone) };
}

async function prepareChange(deps: AuthDeps, named: Recipient): Promise<TextMessage | null> {
  const service = deps.database.asService('resend a text');
  const change = await findPendingChange(service, named.phone);
  if (!change) return null;
  const { id: userId, new_phone: phone } = change;
  if (phone !== named.phone) await consumeRecipientBudget(deps, { ...named, phone });
  await updateUser(service, userId, { phone_change_sent_at: deps.clock.now() });
  const text = await issuePhoneCode(deps, service, { userId, purpose: 'phone_change', phone });
  return { phone, text, share: 'open' };
}

/**
 * As in supabase/auth the request names the user's current number. A user without a number names the new one.
 *
 * Threat: a stranger starts a change to the owner's number as well, so that the owner's code adds the number to the
 * stranger's account. With two pending changes to a number, neither code is sent again.
 */
async function findPendingChange(service: AsService, phone: string): Promise<{ id: string; new_phone: string } | null> {
  const changes = queryBuilder.selectFrom('auth.users').select(['id', 'new_phone']).where('new_phone', 'is not', null);
  const ofCurrent = await service.run(changes.where('phone', '=', phone));
  const found = ofCurrent.length > 0 ? ofCurrent : await service.run(changes.where('new_phone', '=', phone).limit(2));
  const [change] = found;
  return found.length === 1 && change?.new_phone != null ? { id: change.id, new_phone: change.new_phone } : null;
}

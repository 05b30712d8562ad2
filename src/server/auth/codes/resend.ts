/** POST /resend: repeats the mail or text of a sign-up or of an address change (docs/specification/api.md 14, 26). */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { findUserByEmail, findUserById, updateUser, type UserRow } from '../accounts/accounts.ts';
import { claimMail } from '../accounts/security-notice.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { parseEmail } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { parsePhone } from '../http/phone-number.ts';
import { consumeRecipientBudget, sendTextLater, type Recipient, type TextMessage } from '../phone/send-text.ts';
import { mailAddressChange, repeatAddressChange } from './address-change.ts';
import { addressContact, numberContact, type Contact } from './contact.ts';
import { mailConfirmation, mailIntervalMs, readMailRequest, type MailRequest } from './mail-codes.ts';
import { issuePhoneCode, issueSignInCode } from './text-codes.ts';

/** By the `type` of the request: which contact the message goes to, and whether it repeats a change of the contact or a sign-up. */
const REPEATABLE: ReadonlyMap<string, { byPhone: boolean; isChange: boolean }> = new Map([
  ['signup', { byPhone: false, isChange: false }],
  ['email_change', { byPhone: false, isChange: true }],
  ['sms', { byPhone: true, isChange: false }],
  ['phone_change', { byPhone: true, isChange: true }],
]);

/**
 * The account is looked up after the response, which therefore does not reveal whether the account exists.
 *
 * As in supabase/auth the request names the current address or number of the user who changes it.
 */
export const resend: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const repeatable = REPEATABLE.get(body.text('type'));
  if (!repeatable) throw invalidRequest('Missing one of these types: signup, email_change, sms, phone_change');
  const { byPhone, isChange } = repeatable;
  if (byPhone && deps.sms === null) throw new AuthError('phone_provider_disabled');
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email === '' && phone === '') throw new AuthError('resend_without_address');
  if (byPhone) {
    if (phone === '') throw new AuthError('resend_needs_phone');
    const recipient = { phone: parsePhone(phone), ip: device.ip };
    await consumeRecipientBudget(deps, recipient);
    sendTextLater(deps, () => (isChange ? prepareNumberChange(deps, recipient) : prepareSignUp(deps, recipient)));
  } else {
    if (email === '') throw new AuthError('resend_needs_email');
    const address = parseEmail(email);
    const request = readMailRequest(context, deps, body);
    deps.mailer.prepare(() => (isChange ? mailChange(deps, address, request) : mailSignUp(deps, address, request)));
  }
  return context.json({});
};

async function findUnconfirmed({ database }: AuthDeps, contact: Contact): Promise<UserRow | null> {
  const user = await contact.find(database.asService('resend a sign-up'));
  return user && !contact.isConfirmed(user) ? user : null;
}

async function mailSignUp(deps: AuthDeps, email: string, request: MailRequest): Promise<void> {
  const user = await findUnconfirmed(deps, addressContact(email));
  if (user) await mailConfirmation(deps, user, request);
}

async function prepareSignUp(deps: AuthDeps, { phone }: Recipient): Promise<TextMessage | null> {
  const user = await findUnconfirmed(deps, numberContact(phone));
  if (!user) return null;
  const text = await issueSignInCode(deps, deps.database.asService('resend a text'), user, phone);
  return { phone, share: 'open', text };
}

async function mailChange(deps: AuthDeps, email: string, request: MailRequest): Promise<void> {
  const owner = await findUserByEmail(deps.database.asService('resend a mail'), email);
  if (!owner || owner.new_email === null) return;
  const claim = { userId: owner.id, column: 'email_change_sent_at', intervalMs: mailIntervalMs(deps) } as const;
  const repeated = await deps.database.transactAsService('resend an address change', async (transaction) => {
    if (!(await claimMail(transaction, { ...claim, now: deps.clock.now() }))) return null;
    // Reads the user again: only now, after the claim has locked the row, is `new_email` certain.
    const user = await findUserById(transaction, owner.id);
    if (!user || user.new_email === null) return null;
    const change = { user, newEmail: user.new_email, request };
    return { change, halves: await repeatAddressChange(deps, transaction, change) };
  });
  if (repeated) await mailAddressChange(deps, repeated.change, repeated.halves);
}

async function prepareNumberChange(deps: AuthDeps, named: Recipient): Promise<TextMessage | null> {
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
 * A user without a number names the new one.
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

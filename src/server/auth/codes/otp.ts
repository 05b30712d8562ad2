/**
 * POST /otp and POST /magiclink: sign in with a link or a code instead of a password (docs/specification/api.md 25,
 * 26).
 *
 * Threat: account enumeration. The account of an address is looked up, and created, after the response. So the answer
 * and its timing do not depend on whether the address has an account (for numbers: `requestPhoneCode`). supabase/auth
 * answers `otp_disabled` or `signup_disabled` for an unknown address if no account may be created.
 */
import type { Context } from 'hono';
import type { JsonObject } from '#server/database/tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { findUserByEmail, findUserById, updateUser, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { checkSignUpMetadata, parseEmail, checkChannel, parsePhone } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { clearUnprovenPassword } from '../phone/phone-accounts.ts';
import {
  consumeRecipientBudget,
  sendSignUpText,
  sendTextLater,
  type TextMessage,
  type Recipient,
} from '../phone/send-text.ts';
import {
  addressContact,
  findOrCreateAccount,
  numberContact,
  issueSignInCode,
  issuePhoneCode,
  type Contact,
} from './contact.ts';
import {
  mailConfirmation,
  mailSignInLink,
  readMailRequest,
  mailRecovery,
  mailIntervalMs,
  type MailRequest,
} from './mail-codes.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { claimMail } from '../accounts/security-notice.ts';
import { mailAddressChange, repeatAddressChange } from './address-change.ts';

export const sendSignInCode: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email === '' && phone === '') throw invalidRequest('One of email or phone must be set');
  if (email !== '' && phone !== '') throw invalidRequest('Only an email address or phone number should be provided');
  if (phone !== '') return requestPhoneCode(context, deps, { body, device });
  if (body.text('channel') !== '') throw invalidRequest('Channel should only be specified with Phone OTP');
  return mailSignInCode(context, deps, body, { createUser: body.flag('create_user', true) });
};

/** The older form of /otp: for addresses only, and as if `create_user` were true. */
export const sendMagicLink: Endpoint<{ body: Body }> = async (context, deps, { body }) => {
  if (body.text('email') === '') throw new AuthError(422, 'validation_failed', 'Password recovery requires an email');
  return mailSignInCode(context, deps, body, { createUser: true });
};

function mailSignInCode(
  context: Context<AppEnv>,
  deps: AuthDeps,
  body: Body,
  { createUser }: { createUser: boolean },
): Response {
  if (!deps.mailer.isSetUp) throw new AuthError(422, 'email_provider_disabled', 'Login with magic link is disabled');
  const email = parseEmail(body.text('email'));
  const data = checkSignUpMetadata(body.object('data') ?? {});
  const request = readMailRequest(context, deps, body);
  deps.mailer.prepare(async () => {
    const user = await findOrCreateUser(deps, { email, data, createUser, request });
    if (!user) return;
    // With autoconfirm an address needs no confirmation, so new and known users get the same mail.
    const isConfirmed = user.email_confirmed_at !== null || deps.config.auth.autoconfirm;
    await (isConfirmed ? mailSignInLink : mailConfirmation)(deps, user, request);
  });
  return context.json({});
}

type SignIn = { email: string; data: JsonObject; createUser: boolean; request: MailRequest };

/** Null for an unknown address when no account may be created. Metadata of an existing account is not changed. */
async function findOrCreateUser(deps: AuthDeps, { email, data, createUser, request }: SignIn): Promise<UserRow | null> {
  const service = deps.database.asService('mail a sign-in code');
  const contact = addressContact(email);
  const existing = await contact.find(service);
  // Threat: a stranger has signed up with this address and a password. The reader of the mail did not choose that
  // password.
  if (existing && !contact.isConfirmed(existing)) await contact.clearPassword(service, existing);
  if (!existing && !(createUser && deps.config.auth.signups)) return null;
  // The new account is unconfirmed, even with AUTH_AUTOCONFIRM, until the mail's link or code has proven the address.
  const account = { passwordHash: null, data, method: 'otp', device: request.device, now: deps.clock.now() } as const;
  return (await findOrCreateAccount(deps, { contact, existing, account })).user;
}

/**
 * Texts a code (docs/specification/api.md 26).
 *
 * Threat: account enumeration. If the request may create an account, every number gets a code, and the answer can
 * report a failed text. Otherwise the account is looked up after the response, which is the same for every number. The
 * same happens once only reserved texts are left: then only a confirmed number gets a code.
 */
async function requestPhoneCode(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { body, device }: { body: Body; device: Device },
): Promise<Response> {
  checkChannel(body);
  if (deps.sms === null) throw new AuthError(400, 'phone_provider_disabled', 'Unsupported phone provider');
  const phone = parsePhone(body.text('phone'));
  const data = checkSignUpMetadata(body.object('data') ?? {});
  const createsUser = body.flag('create_user', true) && deps.config.auth.signups;
  const request = { phone, data, createsUser, device };
  const prepared = await prepareRequestedText(deps, request);
  if (prepared === null) sendTextLater(deps, () => prepareSignInText(deps, phone));
  else await sendSignUpText(deps, { phone, ...prepared, device });
  return context.json({});
}

type TextRequest = { phone: string; data: JsonObject; createsUser: boolean; device: Device };

/**
 * Returns the text to send and the account if this request created it. Null if the account is looked up after the
 * response. The time of this function is padded, also if a budget refuses the text.
 */
async function prepareRequestedText(deps: AuthDeps, { phone, data, createsUser, device }: TextRequest) {
  const padding = startPadding();
  try {
    const service = deps.database.asService('sign in by phone');
    // Runs before the budget may refuse the request. The owner may then enter the code of a stranger's earlier sign-up,
    // and the stranger's password must not survive that.
    await clearUnprovenPassword(service, phone);
    await consumeRecipientBudget(deps, { phone, ip: device.ip });
    if (!createsUser || !(await deps.limits.consumeOpenText())) return null;
    const contact = numberContact(phone);
    const existing = await contact.find(service);
    const account = { passwordHash: null, data, method: 'otp', device, now: deps.clock.now() } as const;
    const { user, created } = await findOrCreateAccount(deps, { contact, existing, account });
    if (!user) throw new AuthError('try_again');
    return { created, text: await issueSignInCode(deps, service, user, phone) };
  } finally {
    await padding.finish();
  }
}

async function prepareSignInText(deps: AuthDeps, phone: string): Promise<TextMessage | null> {
  const service = deps.database.asService('sign in by phone');
  const contact = numberContact(phone);
  const user = await contact.find(service);
  if (!user) return null;
  const share = contact.isConfirmed(user) ? 'guest' : 'open';
  return { phone, share, text: await issueSignInCode(deps, service, user, phone) };
}

/** POST /recover: mails a link and a code for choosing a new password (docs/specification/api.md 14). */
export const sendRecoveryMail: Endpoint<{ body: Body }> = async (context, deps, { body }) => {
  const input = body.text('email');
  if (input === '') throw invalidRequest('Password recovery requires an email');
  const email = parseEmail(input);
  const request = readMailRequest(context, deps, body);
  // The account is looked up after the response. So neither the response's content nor its timing reveals whether the
  // account exists.
  deps.mailer.prepare(async () => {
    const service = deps.database.asService('recover an account');
    const user = await findUserByEmail(service, email);
    if (user) await mailRecovery(deps, user, request);
  });
  return context.json({});
};

// POST /resend: repeats the mail or text of a sign-up, or of a change of address or number (docs/specification/api.md
// 14, 26).

/** For each `type` of request: the contact that the message goes to, and whether it repeats a change or a sign-up. */
const REPEATABLE: ReadonlyMap<string, { byPhone: boolean; isChange: boolean }> = new Map([
  ['signup', { byPhone: false, isChange: false }],
  ['email_change', { byPhone: false, isChange: true }],
  ['sms', { byPhone: true, isChange: false }],
  ['phone_change', { byPhone: true, isChange: true }],
]);

/**
 * The account is looked up after the response, which therefore does not reveal whether the account exists.
 *
 * The request for a change names the user's current address, as in supabase/auth, or the current or the new number.
 */
export const resendCode: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const repeatable = REPEATABLE.get(body.text('type'));
  if (!repeatable) throw invalidRequest('Missing one of these types: signup, email_change, sms, phone_change');
  const { byPhone, isChange } = repeatable;
  if (byPhone && deps.sms === null) throw new AuthError('phone_provider_disabled');
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email === '' && phone === '') throw invalidRequest('Missing email address or phone number');
  if (byPhone) {
    if (phone === '') throw invalidRequest('Type provided requires a phone number');
    const recipient = { phone: parsePhone(phone), ip: device.ip };
    await consumeRecipientBudget(deps, recipient);
    sendTextLater(deps, () => (isChange ? prepareNumberChange(deps, recipient) : prepareSignUp(deps, recipient)));
  } else {
    if (email === '') throw invalidRequest('Type provided requires an email address');
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
 * Finds a pending change by the user's present number, or else by the new one: a user without a number has no other.
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

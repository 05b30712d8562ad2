/**
 * POST /otp and POST /magiclink: sign in with a link or a code instead of a password (docs/specification/api.md 25,
 * 26).
 *
 * Threat: account enumeration. The account is looked up, and created, after the response. So the answer and its timing
 * do not depend on whether the address has an account. supabase/auth answers `otp_disabled` or `signup_disabled` for an
 * unknown address if no account may be created.
 */
import type { Context } from 'hono';
import type { JsonObject } from '#server/database/tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { UserRow } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { checkSignUpMetadata, parseEmail } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { checkChannel, parsePhone } from '../http/phone-number.ts';
import { startPadding } from '../http/response-padding.ts';
import { clearUnprovenPassword } from '../phone/phone-accounts.ts';
import { consumeRecipientBudget, sendSignUpText, sendTextLater, type TextMessage } from '../phone/send-text.ts';
import { addressContact, findOrCreateAccount, numberContact } from './contact.ts';
import { mailConfirmation, mailSignInLink, readMailRequest, type MailRequest } from './mail-codes.ts';
import { issueSignInCode } from './text-codes.ts';

export const otp: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email === '' && phone === '') throw invalidRequest('One of email or phone must be set');
  if (email !== '' && phone !== '') throw invalidRequest('Only an email address or phone number should be provided');
  if (phone !== '') return requestPhoneCode(context, deps, { body, device });
  if (body.text('channel') !== '') throw invalidRequest('Channel should only be specified with Phone OTP');
  return mailSignInCode(context, deps, body, { createUser: body.flag('create_user', true) });
};

/** The older form of /otp: for addresses only, and as if `create_user` were true. */
export const magiclink: Endpoint<{ body: Body }> = async (context, deps, { body }) => {
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
  // Unconfirmed even with AUTH_AUTOCONFIRM: nobody has proven the address until the mail's link or code is used.
  const account = {
    passwordHash: null,
    data,
    method: 'otp',
    device: request.device,
    now: deps.clock.now(),
  } as const;
  return (await findOrCreateAccount(deps, { contact, existing, account })).user;
}

/**
 * Texts a code (docs/specification/api.md 26).
 *
 * Threat: account enumeration. If the request may create an account, every number gets a code, and the answer can
 * report a failed text. Otherwise the account is looked up after the response, which is the same for every number. So it
 * is once only reserved texts are left: a confirmed number then gets its code, and any other number the same answer.
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

/**
 * POST /otp and POST /magiclink: sign in with a link or a code instead of a password (docs/specification/wire.md 25,
 * 26).
 *
 * Threat: account enumeration. The account is looked up, and created, after the response. So the answer and its timing
 * do not depend on whether the address has an account. supabase/auth answers `otp_disabled` or `signup_disabled` for an
 * unknown address if no account may be created.
 */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import { clearUnconfirmedPassword, findUserByEmail, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { requireCaptcha } from '../http/captcha.ts';
import { mailConfirmation, mailSignInLink } from './account-mails.ts';
import { requestPhoneCode } from './request-code.ts';
import { readBody, type Body } from '../http/body.ts';
import { checkSignUpMetadata, parseEmail } from '../http/credentials.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { readMailRequest, type MailRequest } from './mail-request.ts';
import { createAccountIfFree } from '../accounts/create-account.ts';

export const otp: Endpoint = async (context, deps) => {
  await deps.limits.consume('otp', deviceOf(context, deps).ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email === '' && phone === '') throw new AuthError('otp_without_address');
  if (email !== '' && phone !== '') throw new AuthError('otp_with_both');
  if (phone !== '') return requestPhoneCode(context, deps, body);
  if (body.text('channel') !== '') throw new AuthError('channel_without_phone');
  return mailSignInCode(context, deps, body, { createUser: body.flag('create_user', true) });
};

/** The older form of /otp: for addresses only, and as if `create_user` were true. */
export const magiclink: Endpoint = async (context, deps) => {
  await deps.limits.consume('magiclink', deviceOf(context, deps).ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
  if (body.text('email') === '') throw new AuthError('magic_link_without_email');
  return mailSignInCode(context, deps, body, { createUser: true });
};

function mailSignInCode(
  context: Context<AppEnv>,
  deps: AuthDeps,
  body: Body,
  { createUser }: { createUser: boolean },
): Response {
  if (!deps.mailer.isSetUp) throw new AuthError('magic_link_disabled');
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
  const { database, clock, config } = deps;
  const service = database.asService('mail a sign-in code');
  const existing = await findUserByEmail(service, email);
  if (existing) {
    // Threat: a stranger has signed up with this address and a password. The reader of the mail did not choose that
    // password.
    if (existing.email_confirmed_at === null) await clearUnconfirmedPassword(service, existing.id);
    return existing;
  }
  if (!createUser || !config.auth.signups) return null;
  const { device } = request;
  // Unconfirmed even with AUTH_AUTOCONFIRM: nobody has proven the address until the mail's link or code is used.
  const account = {
    email,
    passwordHash: null,
    data,
    confirmed: false,
    now: clock.now(),
    method: 'otp',
    device,
  } as const;
  const created = await database.transactAsService('sign up by code', (transaction) =>
    createAccountIfFree(transaction, account),
  );
  return created?.user ?? findUserByEmail(service, email);
}

/** POST /resend: sends the mail of a sign-up or an address change again (docs/specification/wire.md 14). */
import { mailAddressChange, mailConfirmation, mailIntervalMs } from '../mails/account-mails.ts';
import type { AuthDeps, Endpoint } from '../auth-deps.ts';
import { claimMail, findUserByEmail } from '../accounts/accounts.ts';
import { requireCaptcha } from '../captcha/require-captcha.ts';
import { resendPhoneCode } from '../phone/request-code.ts';
import { readBody } from '../wire/body.ts';
import { parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';

type MailType = 'signup' | 'email_change';

export const resend: Endpoint = async (context, deps) => {
  await deps.limits.consume('resend', deviceOf(context, deps).ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
  const type = body.text('type');
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (type === 'sms' || type === 'phone_change') return resendPhoneCode(context, deps, { type, body });
  if (type !== 'signup' && type !== 'email_change') throw new AuthError('resend_without_type');
  if (email === '') throw new AuthError(phone === '' ? 'resend_without_address' : 'resend_needs_email');
  const address = parseEmail(email);
  const redirectTo = redirectTarget(context, deps.config);
  // The account is looked up after the response, which therefore does not reveal whether the account exists.
  deps.mailer.prepare(() => resendMail(deps, type, address, redirectTo));
  return context.json({});
};

async function resendMail(deps: AuthDeps, type: MailType, address: string, redirectTo: string): Promise<void> {
  const service = deps.database.asService('resend a mail');
  const user = await findUserByEmail(service, address);
  if (!user) return;
  if (type === 'signup') {
    if (user.email_confirmed_at === null) await mailConfirmation(deps, service, user, redirectTo);
    return;
  }
  const newEmail = user.new_email;
  if (newEmail === null) return;
  const claim = { userId: user.id, column: 'email_change_sent_at', intervalMs: mailIntervalMs(deps) } as const;
  if (!(await claimMail(service, { ...claim, now: deps.clock.now() }))) return;
  const ownerOfNew = await findUserByEmail(service, newEmail);
  await mailAddressChange(deps, service, { user, newEmail, ownerOfNew, redirectTo });
}

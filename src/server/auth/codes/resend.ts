/** POST /resend: repeats the mail or text of a sign-up or of an address change (docs/specification/wire.md 14, 26). */
import { mailConfirmation, mailIntervalMs } from './account-mails.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { findUserByEmail, findUserById } from '../accounts/accounts.ts';
import { claimMail } from '../accounts/claim-mail.ts';
import { mailAddressChange, repeatAddressChange } from './address-change.ts';
import { requireCaptcha } from '../http/captcha.ts';
import { resendPhoneCode } from './request-code.ts';
import { readBody } from '../http/body.ts';
import { parseEmail } from '../http/credentials.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { readMailRequest, type MailRequest } from './mail-request.ts';

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

/**
 * POST /otp and POST /resend for a number: text a code (docs/specification/wire.md 26).
 *
 * Threat: account enumeration. If the request may create an account, every number gets a code, and the answer can
 * report a failed text. Otherwise the account is looked up after the response, which is the same for every number. So it
 * is once only reserved texts are left: a confirmed number then gets its code, and any other number the same answer.
 */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { updateUser } from '../accounts/accounts.ts';
import type { Device } from '../http/device.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { checkSignUpMetadata } from '../http/credentials.ts';
import { AuthError } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { clearUnprovenPassword, createPhoneAccount, findUserByPhone } from '../phone/phone-accounts.ts';
import { checkChannel, issuePhoneCode, issueSignInCode } from './phone-codes.ts';
import { parsePhone } from '../http/phone-number.ts';
import {
  consumeRecipientBudget,
  sendSignUpText,
  sendTextLater,
  type Recipient,
  type TextMessage,
} from '../phone/send-text.ts';

export async function requestPhoneCode(context: Context<AppEnv>, deps: AuthDeps, body: Body): Promise<Response> {
  checkChannel(body);
  if (deps.sms === null) throw new AuthError('unsupported_phone_provider');
  const phone = parsePhone(body.text('phone'));
  const data = checkSignUpMetadata(body.object('data') ?? {});
  const createsUser = body.flag('create_user', true) && deps.config.auth.signups;
  const request = { phone, data, createsUser, device: deviceOf(context, deps) };
  const prepared = await prepareRequestedText(deps, request);
  if (prepared === null) sendTextLater(deps, () => prepareSignInText(deps, phone));
  else await sendSignUpText(deps, { phone, ...prepared, device: request.device });
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
    const newAccount = { phone, passwordHash: null, data, now: deps.clock.now() };
    const existing = await findUserByPhone(service, phone);
    const created = existing
      ? null
      : await deps.database.transactAsService('sign up by phone', (transaction) =>
          createPhoneAccount(transaction, newAccount),
        );
    const user = created?.user ?? existing ?? (await findUserByPhone(service, phone));
    if (!user) throw new AuthError('try_again');
    return { created, text: await issueSignInCode(deps, service, user, phone) };
  } finally {
    await padding.finish();
  }
}

async function prepareSignInText(deps: AuthDeps, phone: string): Promise<TextMessage | null> {
  const service = deps.database.asService('sign in by phone');
  const user = await findUserByPhone(service, phone);
  if (!user) return null;
  const share = user.phone_confirmed_at === null ? 'open' : 'reserved';
  return { phone, share, text: await issueSignInCode(deps, service, user, phone) };
}

/** `sms` repeats the code of a sign-up, `phone_change` that of a change of number. */
export async function resendPhoneCode(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { type, body }: { type: 'sms' | 'phone_change'; body: Body },
): Promise<Response> {
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  if (body.text('phone') === '')
    throw new AuthError(body.text('email') === '' ? 'resend_without_address' : 'resend_needs_phone');
  const phone = parsePhone(body.text('phone'));
  const recipient = { phone, ip: deviceOf(context, deps).ip };
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

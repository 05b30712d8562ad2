/**
 * POST /signup with a number and a password (docs/specification/wire.md 26). A texted code always confirms the number,
 * also with AUTH_AUTOCONFIRM.
 *
 * Threat: account enumeration, as with addresses (`password/sign-up.ts`). A new, an unconfirmed and a taken number get
 * the same answer. Each gets a text too, so neither the provider's answer nor its delay tells them apart.
 */
import type { Context } from 'hono';
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { listIdentities, type Account, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { checkSignUpMetadata, checkNewPassword } from '../http/credentials.ts';
import { AuthError } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { decoyIds, signUpResponse, type SignUpIds } from './sign-up-response.ts';
import {
  clearUnprovenPassword,
  createPhoneAccount,
  findUserByPhone,
  PHONE_APP_METADATA,
  phoneIdentityData,
} from '../phone/phone-accounts.ts';
import { checkChannel, issueSignInCode } from '../codes/phone-codes.ts';
import { parsePhone } from '../http/phone-number.ts';
import { consumeRecipientBudget, sendSignUpText, type Recipient } from '../phone/send-text.ts';
import { accountExistsText } from '../phone/texts.ts';

export async function signUpByPhone(context: Context<AppEnv>, deps: AuthDeps, body: Body): Promise<Response> {
  checkChannel(body);
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  const phone = parsePhone(body.text('phone'));
  const data = checkSignUpMetadata(body.object('data') ?? {});
  const device = deviceOf(context, deps);
  const password = body.text('password');
  await checkNewPassword(deps, password, { email: null, phone, data });
  const padding = startPadding();
  const service = deps.database.asService('sign up');
  const now = deps.clock.now();
  const existing = await findUserByPhone(service, phone);
  // Verifying takes as long as hashing the password of a new account.
  const { matches, passwordHash } = await padding.exclude(async () => ({
    matches: existing !== null && (await deps.passwords.matches(password, existing.password_hash)),
    passwordHash: existing ? null : await deps.passwords.hash(password),
  }));
  // Runs before the budget may refuse the request. The owner may then enter the code of a stranger's earlier sign-up,
  // and the stranger's password must not survive that.
  if (existing && !matches) await clearUnprovenPassword(service, phone);
  await consumeBudgets(deps, { phone, ip: device.ip }).catch(async (error: unknown) => {
    await padding.finish();
    throw error;
  });
  const newAccount = { phone, passwordHash, data, now };
  const created = existing
    ? null
    : await deps.database.transactAsService('sign up', (transaction) => createPhoneAccount(transaction, newAccount));
  const user = created?.user ?? existing ?? (await findUserByPhone(service, phone));
  if (!user) throw new AuthError('try_again');
  const text = await issueText(deps, service, user, phone);
  const ids = await findIds(deps, service, { user, created, phone });
  await padding.finish();
  await sendSignUpText(deps, { phone, text, created, device });
  const facts = { ...data, ...phoneIdentityData(ids.userId, phone, false) };
  return context.json(signUpResponse({ ids, address: { phone }, facts, appMetadata: PHONE_APP_METADATA, now }));
}

/** Every number counts as one of a stranger, so that a refusal reveals no account. */
async function consumeBudgets(deps: AuthDeps, recipient: Recipient): Promise<void> {
  await consumeRecipientBudget(deps, recipient);
  await deps.limits.consumeSmsServer('open');
}

/** The owner of a taken number gets a notice instead of a code. */
function issueText(deps: AuthDeps, service: AsService, user: UserRow, phone: string): Promise<string> | string {
  if (user.phone_confirmed_at === null) return issueSignInCode(deps, service, user, phone);
  return accountExistsText(`${deps.config.publicUrl}${ROUTES.login.path}`);
}

async function findIds(
  { secrets }: AuthDeps,
  service: AsService,
  { user, created, phone }: { user: UserRow; created: Account | null; phone: string },
): Promise<SignUpIds> {
  if (user.phone_confirmed_at !== null) return decoyIds(secrets.unknownAccounts, phone);
  const identities = created?.identities ?? (await listIdentities(service, user.id));
  return { userId: user.id, identityId: identities[0]?.id ?? user.id };
}

/** POST /verify with a number: exchanges a texted code for a session (docs/specification/wire.md 26). */
import type { Context } from 'hono';
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { OneTimePurpose } from '#server/database/tables/auth-tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { ROUTES } from '#domain/routes.ts';
import { findByCode, type FoundToken } from './one-time-tokens.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { mailPhoneChanged } from './account-mails.ts';
import type { Body } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { parsePhone } from '../http/phone-number.ts';
import { redeemPhoneCode, type PhoneChange, type PhoneRedeemResult } from './redeem-phone-code.ts';
import { sendTextLater } from '../phone/send-text.ts';
import { phoneChangedText } from '../phone/texts.ts';

const PURPOSES: ReadonlyMap<string, OneTimePurpose> = new Map([
  ['sms', 'sms'],
  ['phone_change', 'phone_change'],
]);

/** The caller has checked that the body has a code and no address. */
export async function verifyPhone(context: Context<AppEnv>, deps: AuthDeps, body: Body): Promise<Response> {
  const padding = startPadding();
  const phone = parsePhone(body.text('phone'));
  const purpose = PURPOSES.get(body.text('type'));
  const isPossible = purpose !== undefined && deps.sms !== null;
  const token = isPossible ? await findToken(deps, { phone, purpose, code: body.text('token') }) : null;
  if (!token) {
    // Threat: the time of the answer would reveal whether the number has a pending code.
    await padding.finish();
    throw new AuthError('code_expired');
  }
  const result = await redeemCode(context, deps, token);
  if (result.outcome === 'invalid') throw new AuthError('code_expired');
  if (result.outcome === 'banned') throw new AuthError('user_banned');
  if (result.outcome === 'phone_taken') throw new AuthError('phone_exists');
  if (result.change !== null) notifyOfChange(deps, result.change);
  return context.json(await respondWithSession(context, deps, result));
}

type Code = { phone: string; purpose: OneTimePurpose; code: string };

const findToken = ({ clock, database, secrets }: AuthDeps, { phone, purpose, code }: Code) =>
  findByCode(database.asService('verify a texted code'), {
    address: phone,
    code,
    purposes: [purpose],
    now: clock.now(),
    key: secrets.oneTimeCodes,
  });

async function redeemCode(context: Context<AppEnv>, deps: AuthDeps, token: FoundToken): Promise<PhoneRedeemResult> {
  const { clock, database } = deps;
  try {
    return await database.transactAsService('redeem a texted code', (transaction) =>
      redeemPhoneCode(transaction, { token, device: deviceOf(context, deps), now: clock.now() }),
    );
  } catch (error) {
    // A concurrent request took the number.
    if (isUniqueViolation(error)) return { outcome: 'phone_taken' };
    throw error;
  }
}

/** Tells the owner. Threat: a stranger at the unlocked device adds a number, to sign in with it later. */
function notifyOfChange(deps: AuthDeps, { previousPhone, owner }: PhoneChange): void {
  mailPhoneChanged(deps, owner);
  if (previousPhone === null) return;
  const text = phoneChangedText(`${deps.config.publicUrl}${ROUTES.login.path}`);
  sendTextLater(deps, async () => ({ phone: previousPhone, text, share: 'reserved' }));
}

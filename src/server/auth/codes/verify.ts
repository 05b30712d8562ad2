/** POST /verify: exchanges a mailed link, or a mailed or texted code, for a session (docs/specification/wire.md 16). */
import type { Context } from 'hono';
import type { OneTimePurpose } from '#server/database/tables/auth-tables.ts';
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { ROUTES } from '#domain/routes.ts';
import { phoneChangedMail } from '#server/mail/account-emails.ts';
import type { Endpoint, AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import type { Body } from '../http/body.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { findByLink, findByCode, type FoundToken } from './one-time-tokens.ts';
import { startPadding } from '../http/response-padding.ts';
import { parseEmail } from '../http/credentials.ts';
import {
  redeemToken,
  redeemPhoneCode,
  type RedeemResult,
  type PhoneRedeemResult,
  type PhoneChange,
} from './redeem-code.ts';
import { mailAddressChanged } from './address-change.ts';
import { announceClaim } from './claim-account.ts';
import { parsePhone } from '../http/phone-number.ts';
import { phoneChangedText, sendTextLater } from '../phone/send-text.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { sendNotice } from '../accounts/security-notice.ts';

/** Token purposes by wire type. `email` is for clients that do not know whether an account is new. */
const PURPOSES: ReadonlyMap<string, readonly OneTimePurpose[]> = new Map<string, OneTimePurpose[]>([
  ['signup', ['signup']],
  ['invite', ['invite']],
  ['magiclink', ['magiclink']],
  ['email', ['signup', 'magiclink']],
  ['recovery', ['recovery']],
  ['email_change', ['email_change_current', 'email_change_new']],
]);

export const FIRST_LINK_ACCEPTED = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';

export const verify: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const type = body.text('type');
  if (type === '') throw new AuthError('verify_without_type');
  if ((body.text('token') === '') === (body.text('token_hash') === ''))
    throw invalidRequest('Verify requires either a token or a token hash');
  if (body.text('token_hash') === '' && body.text('email') === '' && body.text('phone') !== '')
    return verifyPhone(context, deps, { body, device });
  const token =
    body.text('token_hash') === ''
      ? await findTokenByCode(deps, type, body, device)
      : await findTokenByHash(deps, type, body);
  const result = await redeemLinkOrCode(deps, { token, device, finishesFlow: false });
  return context.json(
    result.outcome === 'session'
      ? await respondWithSession(context, deps, { ...result, provesMailbox: true })
      : { msg: FIRST_LINK_ACCEPTED, code: '200' },
  );
};

async function findTokenByHash(deps: AuthDeps, type: string, body: Body): Promise<FoundToken> {
  if (body.has('email') || body.has('phone') || body.has('redirect_to'))
    throw invalidRequest('Only the token_hash and type should be provided');
  return findTokenByLink(deps, type, body.text('token_hash'));
}

export async function findTokenByLink(deps: AuthDeps, type: string, linkToken: string): Promise<FoundToken> {
  const purposes = PURPOSES.get(type);
  if (!purposes) throw invalidRequest('Invalid email verification type');
  const service = deps.database.asService('verify a link');
  const token = await findByLink(service, { linkToken, purposes, now: deps.clock.now() });
  if (!token) throw new AuthError('link_expired');
  return token;
}

async function findTokenByCode(deps: AuthDeps, type: string, body: Body, device: Device): Promise<FoundToken> {
  const padding = startPadding();
  const [email, phone] = [body.text('email'), body.text('phone')];
  if ((email === '') === (phone === ''))
    throw invalidRequest('Only an email address or phone number should be provided on verify');
  const address = parseEmail(email, 'verify_bad_email');
  const { clock, secrets } = deps;
  const purposes = PURPOSES.get(type);
  const lookup = { address, code: body.text('token'), now: clock.now(), key: secrets.oneTimeCodes, device };
  const service = deps.database.asService('verify a code');
  // No code has an unknown type, which is answered like a wrong code, as in supabase/auth.
  const token = purposes ? await findByCode(service, { ...lookup, purposes }) : null;
  if (token) return token;
  // Threat: the time of the answer would reveal whether the address has a pending code.
  await padding.finish();
  throw new AuthError('code_expired');
}

type RedeemedToken = Extract<RedeemResult, { outcome: 'session' | 'auth_code' | 'awaiting_other_address' }>;

/** Throws an AuthError unless the token was redeemed. */
export async function redeemLinkOrCode(
  deps: AuthDeps,
  { token, device, finishesFlow }: { token: FoundToken; device: Device; finishesFlow: boolean },
): Promise<RedeemedToken> {
  const { database, clock } = deps;
  const result = await database
    .transactAsService('redeem a token', (transaction) =>
      redeemToken(transaction, { token, device, now: clock.now(), finishesFlow }),
    )
    .catch((error: unknown) => {
      // Another account confirmed the new address at the same moment.
      if (isUniqueViolation(error)) return { outcome: 'address_taken' } as const;
      throw error;
    });
  if (result.outcome === 'invalid') throw new AuthError('link_expired');
  if (result.outcome === 'banned') throw new AuthError('user_banned');
  if (result.outcome === 'address_taken') throw new AuthError('email_exists');
  if (result.outcome === 'awaiting_other_address') return result;
  const { account, previousEmail, claim } = result;
  if (previousEmail !== null) mailAddressChanged(deps, previousEmail, account.user.email ?? '');
  if (claim !== null) announceClaim(deps, account.user, claim);
  return result;
}

const PHONE_PURPOSES: ReadonlyMap<string, OneTimePurpose> = new Map([
  ['sms', 'sms'],
  ['phone_change', 'phone_change'],
]);

/**
 * POST /verify with a number: exchanges a texted code for a session (docs/specification/wire.md 26).
 *
 * The caller has checked that the body has a code and no address.
 */
async function verifyPhone(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { body, device }: { body: Body; device: Device },
): Promise<Response> {
  const padding = startPadding();
  const phone = parsePhone(body.text('phone'));
  const purpose = PHONE_PURPOSES.get(body.text('type'));
  const isPossible = purpose !== undefined && deps.sms !== null;
  const token = isPossible ? await findToken(deps, { phone, purpose, code: body.text('token') }) : null;
  if (!token) {
    // Threat: the time of the answer would reveal whether the number has a pending code.
    await padding.finish();
    throw new AuthError('code_expired');
  }
  const result = await redeemCode(deps, token, device);
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

async function redeemCode(deps: AuthDeps, token: FoundToken, device: Device): Promise<PhoneRedeemResult> {
  const { clock, database } = deps;
  try {
    return await database.transactAsService('redeem a texted code', (transaction) =>
      redeemPhoneCode(transaction, { token, device, now: clock.now() }),
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

const mailPhoneChanged = (deps: AuthDeps, user: Pick<UserRow, 'id' | 'email'>): void =>
  sendNotice(deps, user, phoneChangedMail);

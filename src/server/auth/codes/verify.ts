/** POST /verify: exchanges a mailed link, or a mailed or texted code, for a session (docs/specification/api.md 16, 26). */
import { ROUTES } from '#domain/routes.ts';
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { OneTimePurpose } from '#server/database/tables.ts';
import { phoneChangedMail } from '#server/mail/account-emails.ts';
import { sendNotice } from '../accounts/security-notice.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { parseEmail } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { parsePhone } from '../http/phone-number.ts';
import { startPadding } from '../http/response-padding.ts';
import { phoneChangedText, sendTextLater } from '../phone/send-text.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { mailAddressChanged } from './address-change.ts';
import { announceClaim } from './claim-account.ts';
import { findByCode, findByLink, type FoundToken } from './one-time-tokens.ts';
import { isTexted, redeemToken, type PhoneChange, type RedeemResult } from './redeem-code.ts';

/** Purposes of mailed tokens by the `type` of the request. `email` is for clients that do not know whether an account is new. */
const MAILED_PURPOSES: ReadonlyMap<string, readonly OneTimePurpose[]> = new Map<string, OneTimePurpose[]>([
  ['signup', ['signup']],
  ['invite', ['invite']],
  ['magiclink', ['magiclink']],
  ['email', ['signup', 'magiclink']],
  ['recovery', ['recovery']],
  ['email_change', ['email_change_current', 'email_change_new']],
]);
const TEXTED_PURPOSES: ReadonlyMap<string, readonly OneTimePurpose[]> = new Map<string, OneTimePurpose[]>([
  ['sms', ['sms']],
  ['phone_change', ['phone_change']],
]);

export const FIRST_LINK_ACCEPTED = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';

export const verify: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const type = body.text('type');
  if (type === '') throw new AuthError('verify_without_type');
  if ((body.text('token') === '') === (body.text('token_hash') === ''))
    throw invalidRequest('Verify requires either a token or a token hash');
  const token =
    body.text('token_hash') === ''
      ? await findTokenByCode(deps, type, body, device)
      : await findTokenByHash(deps, type, body);
  const result = await redeemLinkOrCode(deps, { token, device, finishesFlow: false });
  return context.json(
    result.outcome === 'session'
      ? await respondWithSession(context, deps, { ...result, provesMailbox: !isTexted(token) })
      : { msg: FIRST_LINK_ACCEPTED, code: '200' },
  );
};

async function findTokenByHash(deps: AuthDeps, type: string, body: Body): Promise<FoundToken> {
  if (body.has('email') || body.has('phone') || body.has('redirect_to'))
    throw invalidRequest('Only the token_hash and type should be provided');
  return findTokenByLink(deps, type, body.text('token_hash'));
}

export async function findTokenByLink(deps: AuthDeps, type: string, linkToken: string): Promise<FoundToken> {
  const purposes = MAILED_PURPOSES.get(type);
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
  const address = phone === '' ? parseEmail(email, 'verify_bad_email') : parsePhone(phone);
  const purposes = phone === '' ? MAILED_PURPOSES.get(type) : deps.sms && TEXTED_PURPOSES.get(type);
  const { clock, secrets } = deps;
  const lookup = {
    address,
    code: body.text('token'),
    now: clock.now(),
    key: secrets.oneTimeCodes,
    ...(phone === '' && { device }),
  };
  const service = deps.database.asService('verify a code');
  // No code has an unknown type, which is answered like a wrong code, as in supabase/auth.
  const token = purposes ? await findByCode(service, { ...lookup, purposes }) : null;
  if (token) return token;
  // Threat: the time of the answer would reveal whether the address or number has a pending code.
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
      // Another account confirmed the new address or number at the same moment.
      if (isUniqueViolation(error)) return { outcome: 'taken' } as const;
      throw error;
    });
  if (result.outcome === 'invalid') throw new AuthError(isTexted(token) ? 'code_expired' : 'link_expired');
  if (result.outcome === 'banned') throw new AuthError('user_banned');
  if (result.outcome === 'taken') throw new AuthError(isTexted(token) ? 'phone_exists' : 'email_exists');
  if (result.outcome === 'awaiting_other_address') return result;
  const { account, previousEmail, claim, phoneChange } = result;
  if (previousEmail !== null) mailAddressChanged(deps, previousEmail, account.user.email ?? '');
  if (claim !== null) announceClaim(deps, account.user, claim);
  if (phoneChange !== null) announcePhoneChange(deps, phoneChange);
  return result;
}

/** Tells the owner. Threat: a stranger at the unlocked device adds a number, to sign in with it later. */
function announcePhoneChange(deps: AuthDeps, { previousPhone, owner }: PhoneChange): void {
  sendNotice(deps, owner, phoneChangedMail);
  if (previousPhone === null) return;
  const text = phoneChangedText(`${deps.config.publicUrl}${ROUTES.login.path}`);
  sendTextLater(deps, async () => ({ phone: previousPhone, text, share: 'guest' }));
}

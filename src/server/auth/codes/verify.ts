/** POST /verify: exchanges a mailed link, or a mailed or texted code, for a session (docs/specification/wire.md 16). */
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { OneTimePurpose } from '#server/database/tables/auth-tables.ts';
import { announceClaim } from './claim-notice.ts';
import { mailAddressChanged } from './account-mails.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { findByCode, findByLink, type FoundToken } from './one-time-tokens.ts';
import { redeemToken, type RedeemResult } from './redeem-token.ts';
import type { Device } from '../http/device.ts';
import { verifyPhone } from './verify-phone.ts';
import { startPadding } from '../http/response-padding.ts';
import { readBody, type Body } from '../http/body.ts';
import { parseEmail } from '../http/credentials.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { respondWithSession } from '../sessions/session-response.ts';

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

export const verify: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('verify', device.ip);
  const body = await readBody(context);
  const type = body.text('type');
  if (type === '') throw new AuthError('verify_without_type');
  if ((body.text('token') === '') === (body.text('token_hash') === '')) throw new AuthError('verify_not_one_token');
  if (body.text('token_hash') === '' && body.text('email') === '' && body.text('phone') !== '')
    return verifyPhone(context, deps, body);
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
  if (body.has('email') || body.has('phone') || body.has('redirect_to')) throw new AuthError('verify_hash_alone');
  return findTokenByLink(deps, type, body.text('token_hash'));
}

export async function findTokenByLink(deps: AuthDeps, type: string, linkToken: string): Promise<FoundToken> {
  const purposes = PURPOSES.get(type);
  if (!purposes) throw new AuthError('verify_bad_email_type');
  const service = deps.database.asService('verify a link');
  const token = await findByLink(service, { linkToken, purposes, now: deps.clock.now() });
  if (!token) throw new AuthError('link_expired');
  return token;
}

async function findTokenByCode(deps: AuthDeps, type: string, body: Body, device: Device): Promise<FoundToken> {
  const padding = startPadding();
  const [email, phone] = [body.text('email'), body.text('phone')];
  if ((email === '') === (phone === '')) throw new AuthError('verify_with_both');
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

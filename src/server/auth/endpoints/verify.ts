/** POST /verify: exchanges a link or code from a mail for a session (docs/specification/wire.md 16). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { OneTimePurpose } from '#server/database/tables/auth-tables.ts';
import { mailAddressChanged } from '../mails/account-mails.ts';
import type { AuthDeps, Endpoint } from '../auth-deps.ts';
import { findByCode, findByLink } from '../accounts/one-time-tokens.ts';
import type { OneTimeRow } from '../accounts/one-time-tokens.ts';
import { redeemToken } from '../accounts/redeem-token.ts';
import type { Device } from '../accounts/device.ts';
import { verifyPhone } from '../phone/verify-phone.ts';
import { padResponseTime } from '../wire/min-response-time.ts';
import { readBody } from '../wire/body.ts';
import type { Body } from '../wire/body.ts';
import { parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { respondWithSession } from '../wire/session-response.ts';

/** Token purposes by wire type. Invitations and magic links are not implemented. */
const PURPOSES: ReadonlyMap<string, readonly OneTimePurpose[]> = new Map([
  ['signup', ['signup']],
  ['email', ['signup']],
  ['recovery', ['recovery']],
  ['email_change', ['email_change_current', 'email_change_new']],
  ['invite', []],
  ['magiclink', []],
]);
const PHONE_TYPES = new Set(['sms', 'phone_change']);

export const FIRST_LINK_ACCEPTED = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';

/** Threat: timing. A wrong code takes at least this long, which hides whether the address has a pending code. */
const MIN_WRONG_CODE_MS = 60;

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
    body.text('token_hash') === '' ? await findTokenByCode(deps, type, body) : await findTokenByHash(deps, type, body);
  const session = await redeemForSession(context, deps, token, device);
  return context.json(session ?? { msg: FIRST_LINK_ACCEPTED, code: '200' });
};

async function findTokenByHash(deps: AuthDeps, type: string, body: Body): Promise<OneTimeRow> {
  if (body.has('email') || body.has('phone') || body.has('redirect_to')) throw new AuthError('verify_hash_alone');
  return findTokenByLink(deps, type, body.text('token_hash'));
}

export async function findTokenByLink(deps: AuthDeps, type: string, linkToken: string): Promise<OneTimeRow> {
  const purposes = PURPOSES.get(type);
  if (!purposes) throw new AuthError('verify_bad_email_type');
  const service = deps.database.asService('verify a link');
  const token =
    purposes.length === 0 ? null : await findByLink(service, { linkToken, purposes, now: deps.clock.now() });
  if (!token) throw new AuthError('link_expired');
  return token;
}

async function findTokenByCode(deps: AuthDeps, type: string, body: Body): Promise<OneTimeRow> {
  const startedAt = performance.now();
  const [email, phone] = [body.text('email'), body.text('phone')];
  if ((email === '') === (phone === '')) throw new AuthError('verify_with_both');
  const purposes = PURPOSES.get(type);
  if (!purposes) throw new AuthError(PHONE_TYPES.has(type) ? 'verify_bad_email_type' : 'verify_unsupported_type');
  const address = parseEmail(email, 'verify_bad_email');
  const { clock, secrets } = deps;
  const lookup = { address, code: body.text('token'), purposes, now: clock.now(), key: secrets.oneTimeCodes };
  const token = purposes.length === 0 ? null : await findByCode(deps.database.asService('verify a code'), lookup);
  if (token) return token;
  await padResponseTime(startedAt, MIN_WRONG_CODE_MS);
  throw new AuthError('code_expired');
}

/** Returns the session response, or null after the first of two confirmations of an address change. */
export async function redeemForSession(context: Context<AppEnv>, deps: AuthDeps, token: OneTimeRow, device: Device) {
  const { database, clock } = deps;
  const result = await database.transactAsService('redeem a token', (transaction) =>
    redeemToken(transaction, { token, device, now: clock.now() }),
  );
  if (result.outcome === 'invalid') throw new AuthError('link_expired');
  if (result.outcome === 'banned') throw new AuthError('user_banned');
  if (result.outcome === 'address_taken') throw new AuthError('email_exists');
  if (result.outcome === 'awaiting_other_address') return null;
  if (result.previousEmail !== null) mailAddressChanged(deps, result.previousEmail, result.account.user.email ?? '');
  return respondWithSession(context, deps, result);
}

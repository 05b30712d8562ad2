/**
 * Device cookies: choose the rate-limit bucket of a password attempt, that of a known device or that of the account.
 *
 * Threat: a distributed guessing attack on one account from thousands of addresses, which no limit per address detects.
 * A limit per account stops it, but would let a stranger lock the owner out with wrong guesses. A browser that has
 * signed in to the account before therefore carries a device cookie (OWASP, "Slow Down Online Guessing Attacks with
 * Device Cookies") and has its own bucket, so wrong guesses of strangers do not lock the owner out there. On a new
 * device the owner uses a recovery link, which makes that device known as well.
 *
 * A browser holds one cookie, for the account that signed in last. The cookie grants no access; a thief gains the
 * guesses of one more bucket (`rate-limits.ts`). The cookie is signed over the address or number, so it cannot be
 * forged for another account, and an address without an account is limited like any other.
 *
 * Threat: login CSRF. A page of another site signs the browser in to the attacker's account and overwrites the owner's
 * cookie. A response to a cross-site request therefore sets no cookie, unless the browser itself began the sign-in
 * (`providers/browser-binding.ts`).
 *
 * Threat: a session thief renews the session to get one new cookie after another, each with its own guesses. All
 * renewals of a session therefore set the same cookie.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { AppEnv } from '#server/http/app-env.ts';
import { isCrossSiteRequest } from '#server/http/host-guard.ts';
import type { UserRow } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { hmac } from '../keys/sealed.ts';

const COOKIE = 'hustle-forge-device';
const PATH = '/auth/v1';
/** The longest lifetime that browsers allow. */
const MAX_AGE_SECONDS = 400 * 24 * 3_600;

type Owner = Pick<UserRow, 'id' | 'email' | 'phone' | 'is_sso_user' | 'email_confirmed_at' | 'email_proven_at'>;

/**
 * Returns the name that a cookie is bound to: the account's address or number; null without either. Threat: a SAML
 * provider gives its users any address. So their cookies are bound to the account's id. Otherwise such a cookie would
 * give its browser guesses at another account with the same address, and hide a sign-in to that account from its owner.
 *
 * Threat: a stranger who used an account before its owner claimed it keeps a cookie, which would hide a later sign-in
 * with a stolen password. A claim proves the address after it was confirmed. The name then contains the time of the
 * proof, so earlier cookies do not match it.
 */
function ownerOf(user: Owner): string | null {
  const { id, email, phone, is_sso_user: isSso, email_confirmed_at: confirmedAt, email_proven_at: provenAt } = user;
  if (isSso) return `sso:${id}`;
  const isClaimed = provenAt !== null && (confirmedAt === null || provenAt > confirmedAt);
  return email !== null && isClaimed ? `${email} claimed ${provenAt.toISOString()}` : (email ?? phone);
}

type SignInAttempt = {
  /** The address or number that was sent. */
  address: string;
  /** The account with this address or number; null without an account. */
  user: Owner | null;
};

/**
 * A key for `limits.consumeSignIn` that does not contain the address. A guesser's attempts count per address that was
 * sent, so that the limits do not reveal which address and which number belong together.
 */
export function signInKey(
  context: Context<AppEnv>,
  { secrets }: Pick<AuthDeps, 'secrets'>,
  { address, user }: SignInAttempt,
): string {
  const device = readDevice(context, secrets.devices, (user && ownerOf(user)) ?? address);
  return device === null ? accountGuessKey(secrets.devices, address) : `device:${device}`;
}

/** The key for guesses from unknown devices. */
export const accountGuessKey = (secret: Buffer, address: string): string =>
  `account:${computeMac(secret, 'account', address)}`;

/** Whether the browser's device cookie belongs to this account. A sign-in to another account replaces the cookie. */
export function isKnownDevice(context: Context<AppEnv>, { secrets }: Pick<AuthDeps, 'secrets'>, user: Owner): boolean {
  const owner = ownerOf(user);
  return owner !== null && readDevice(context, secrets.devices, owner) !== null;
}

type RememberOptions = {
  /** Set for a renewal or a second step: each sets the same cookie for a session. */
  sessionId?: string;
  /** The browser has proven that it began this sign-in, so the response to a cross-site request may set the cookie. */
  isBrowserBound?: boolean;
};

/** Call with every response that signs a user in or renews a session. A known device keeps its cookie. */
export function rememberDevice(
  context: Context<AppEnv>,
  deps: AuthDeps,
  user: Owner,
  { sessionId, isBrowserBound = false }: RememberOptions,
): void {
  const key = deps.secrets.devices;
  const owner = ownerOf(user);
  if (owner === null || readDevice(context, key, owner) !== null) return;
  if (!isBrowserBound && isCrossSiteRequest(context, deps.config)) return;
  const device =
    sessionId === undefined ? randomBytes(16).toString('base64url') : computeMac(key, 'session', sessionId);
  setCookie(context, COOKIE, `${device}.${computeMac(key, device, owner)}`, {
    httpOnly: true,
    // A provider's redirect is a cross-site navigation, for which `Strict` would withhold the cookie: each of these
    // sign-ins would look like one from an unknown device. Guesses are POST requests, which never carry it across
    // sites.
    sameSite: 'Lax',
    secure: deps.config.publicUrl.startsWith('https:'),
    path: PATH,
    maxAge: MAX_AGE_SECONDS,
  });
}

function readDevice(context: Context<AppEnv>, key: Buffer, owner: string): string | null {
  const cookie = getCookie(context, COOKIE);
  if (cookie === undefined) return null;
  const [device = '', presented = ''] = cookie.split('.');
  const expected = Buffer.from(computeMac(key, device, owner));
  const mac = Buffer.from(presented);
  return mac.length === expected.length && timingSafeEqual(mac, expected) ? device : null;
}

const computeMac = (key: Buffer, device: string, owner: string): string =>
  hmac(key).update(`${device}\0${owner.toLowerCase()}`).digest('base64url');

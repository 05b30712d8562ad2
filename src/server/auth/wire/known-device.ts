/**
 * Which bucket a password try counts in: that of a known device, or that of the account for everybody else.
 *
 * Threat: guesses at one account from thousands of addresses, which no limit per address sees. A limit per account stops
 * them, and would let any stranger lock an owner out by guessing wrong. So a browser that has signed in to the account
 * before carries a device cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies") and is counted by
 * itself: whatever strangers do, the owner's own browsers still sign in. On a new device the owner uses a recovery link
 * meanwhile, which makes that one known as well.
 *
 * A browser keeps one cookie, for the account that signed in last. It opens nothing. Whoever steals it gains the ten
 * guesses of one more bucket. It is signed over the address, so nobody makes one for an account that they cannot sign in
 * to, and an address without an account backs off like any other.
 *
 * Two more threats: a page elsewhere signs the browser in to its author's account with a form, and the owner's cookie is
 * overwritten; and the thief of a session renews it for one new cookie after another, each with guesses of its own.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { AppEnv } from '#server/http/app-env.ts';
import { isCrossSiteRequest } from '#server/http/requests/cross-site.ts';
import type { AuthDeps } from '../auth-deps.ts';

const COOKIE = 'hustle-forge-device';
const PATH = '/auth/v1';
/** The longest that browsers keep a cookie. */
const MAX_AGE_SECONDS = 400 * 24 * 3_600;

/** A key for `limits.consumeSignIn`, without the address in it. */
export function signInKey(context: Context<AppEnv>, { secrets }: Pick<AuthDeps, 'secrets'>, email: string): string {
  const device = readDevice(context, secrets.devices, email);
  return device === null ? `account:${computeMac(secrets.devices, 'account', email)}` : `device:${device}`;
}

type Remembered = {
  email: string | null;
  /** Of a session that is renewed: its renewals all give the same cookie. */
  sessionId?: string;
};

/** To be called with every answer that signs somebody in. A device that is known already keeps its cookie. */
export function rememberDevice(context: Context<AppEnv>, deps: AuthDeps, { email, sessionId }: Remembered): void {
  const key = deps.secrets.devices;
  if (email === null || readDevice(context, key, email) !== null || isCrossSiteRequest(context, deps.config)) return;
  const device =
    sessionId === undefined ? randomBytes(16).toString('base64url') : computeMac(key, 'session', sessionId);
  setCookie(context, COOKIE, `${device}.${computeMac(key, device, email)}`, {
    httpOnly: true,
    sameSite: 'Strict',
    secure: deps.config.publicUrl.startsWith('https:'),
    path: PATH,
    maxAge: MAX_AGE_SECONDS,
  });
}

function readDevice(context: Context<AppEnv>, key: Buffer, email: string): string | null {
  const [device = '', presented = ''] = (getCookie(context, COOKIE) ?? '').split('.');
  const expected = Buffer.from(computeMac(key, device, email));
  const mac = Buffer.from(presented);
  return mac.length === expected.length && timingSafeEqual(mac, expected) ? device : null;
}

const computeMac = (key: Buffer, device: string, email: string): string =>
  createHmac('sha256', key).update(`${device}\0${email.toLowerCase()}`).digest('base64url');

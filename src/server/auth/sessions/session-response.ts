import type { Context } from 'hono';
import { ROUTES } from '#domain/routes.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { newDeviceMail } from '#server/mail/account-emails.ts';
import type { Account, UserRow } from '../accounts/accounts.ts';
import { claimMail, mailDeletionUndone, sendNotice } from '../accounts/security-notice.ts';
import { userJson } from '../accounts/user-json.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { deviceOf, describeDevice, type Device } from '../http/device.ts';
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../keys/access-tokens.ts';
import { isKnownDevice, rememberDevice } from './device-cookie.ts';
import type { StartedSession } from './sessions.ts';

/** The response body of a sign-in or a renewal (docs/specification/api.md 7). */
export async function sessionResponse(accessTokens: AccessTokens, account: Account, started: StartedSession) {
  const { user } = account;
  const { accessToken, expiresAt } = await accessTokens.issue({
    userId: user.id,
    email: user.email ?? '',
    phone: user.phone ?? '',
    aud: user.aud,
    role: user.role,
    appMetadata: user.raw_app_meta_data,
    userMetadata: user.raw_user_meta_data,
    isAnonymous: user.is_anonymous,
    sessionId: started.session.id,
    aal: started.session.aal,
    amr: started.session.amr,
  });
  return {
    access_token: accessToken,
    token_type: 'bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    expires_at: expiresAt,
    refresh_token: started.refreshToken,
    user: userJson(account),
    ...(started.undidDeletion && { deletion_undone: true }),
  };
}

type Session = Awaited<ReturnType<typeof sessionResponse>>;

/** The fields of a session in the fragment of a redirect. */
export const sessionFragment = (session: Session) => ({
  access_token: session.access_token,
  refresh_token: session.refresh_token,
  expires_in: String(session.expires_in),
  expires_at: String(session.expires_at),
  token_type: session.token_type,
});

type SignIn = {
  account: Account;
  started: StartedSession;
  /** The user has just proven access to the account's mailbox: a notice to it would tell nothing new. */
  provesMailbox?: boolean;
  /** See `rememberDevice`. */
  isBrowserBound?: boolean;
};

/**
 * Call after a sign-in has started a session. Makes the browser a known device, tells the owner of an unknown device
 * (`mailNewDevice`) and of a deletion that the sign-in undid, and returns the response body.
 */
export async function respondWithSession(context: Context<AppEnv>, deps: AuthDeps, signIn: SignIn) {
  const { account, started, provesMailbox = false, isBrowserBound = false } = signIn;
  const { user } = account;
  deps.metrics.events.signIn(started.session.amr[0]!.method);
  if (!provesMailbox && !isKnownDevice(context, deps, user))
    mailNewDevice(deps, { user, started, device: deviceOf(context, deps) });
  rememberDevice(context, deps, user, { isBrowserBound });
  // Threat: another person who knows the password keeps an account alive that its owner believes deleted.
  if (started.undidDeletion) mailDeletionUndone(deps, user);
  return sessionResponse(deps.accessTokens, account, started);
}

/** The minimum time between two notices. Threat: a stranger who knows the password floods the owner with notices. */
const INTERVAL_MS = 3_600_000;
/** Sessions of these methods began with a mail to the address that would get the notice, so none is sent. */
const MAILED_METHODS: ReadonlySet<string> = new Set([
  'magiclink',
  'recovery',
  'invite',
  'email/signup',
  'email_change',
]);

type NewDeviceSignIn = { user: UserRow; started: StartedSession; device: Device };

/**
 * Tells the owner of an account by mail that an unknown device has signed in (docs/specification/accounts.md 16).
 * A device is known by its cookie (`sessions/device-cookie.ts`).
 *
 * Queries and sends after the response. Call it for sign-ins from devices without a valid cookie.
 */
function mailNewDevice(deps: AuthDeps, { user, started, device }: NewDeviceSignIn): void {
  if (user.email === null || user.email_confirmed_at === null || started.isFirst) return;
  if (started.session.amr.some(({ method }) => MAILED_METHODS.has(method))) return;
  const now = deps.clock.now();
  deps.mailer.prepare(async () => {
    const service = deps.database.asService('notify of a new device');
    const column = 'new_device_notice_sent_at';
    if (!(await claimMail(service, { userId: user.id, column, intervalMs: INTERVAL_MS, now }))) return;
    const profileLink = `${deps.config.publicUrl}${ROUTES.profile.path}`;
    const facts = { device: describeDevice(device.userAgent), at: formatUtc(now), profileLink };
    sendNotice(deps, user, (notice) => newDeviceMail({ ...notice, ...facts }));
  });
}

/** Such as `22 November 2026, 17:05 UTC`. */
const formatUtc = (date: Date): string => {
  const options = { timeZone: 'UTC', hour12: false } as const;
  const day = date.toLocaleDateString('en-GB', { ...options, dateStyle: 'long' });
  return `${day}, ${date.toLocaleTimeString('en-GB', { ...options, hour: '2-digit', minute: '2-digit' })} UTC`;
};

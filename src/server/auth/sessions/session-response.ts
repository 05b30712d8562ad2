import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../keys/access-tokens.ts';
import type { Account } from '../accounts/accounts.ts';
import type { StartedSession } from './sessions.ts';
import { mailDeletionUndone } from '../own-account/deletion-mails.ts';
import { mailNewDevice } from './new-device-notice.ts';
import { deviceOf } from '../http/client-device.ts';
import { isKnownDevice, rememberDevice } from './device-cookie.ts';
import { userJson } from '../accounts/user-json.ts';

/** The response of every sign-in and renewal (docs/specification/wire.md 7). */
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
  /** The person has just proven to read the account's mail: a notice to the same mailbox would tell nothing new. */
  provesMailbox?: boolean;
  /** See `rememberDevice`. */
  isBrowserBound?: boolean;
};

/**
 * Call after a sign-in has started a session. Makes the browser a known device, notifies the owner if the device was
 * unknown or the sign-in undid a deletion, and returns the response body.
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

/** Authenticates the requests of second factors and passkeys (docs/specification/wire.md 31 and 32). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Account } from '../accounts/accounts.ts';
import { consumeToken } from '../codes/one-time-tokens.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import { UUID } from '../keys/access-tokens.ts';
import type { Body } from '../http/body.ts';
import { AuthError } from '../http/errors.ts';
import { requireReauthentication } from '../codes/reauthentication.ts';
import {
  hasVerifiedFactor,
  requireUser,
  requireUserWithBody,
  type AuthenticatedUser,
} from '../sessions/require-user.ts';
import { findFactor, type StoredFactor } from './factor-store.ts';

export type FactorUser = { account: Account; session: SessionRow };

/**
 * Throws `anonymous_not_allowed` for anonymous users, and `session_not_found` for tokens without a session, which have
 * nothing to raise to `aal2`. Throws the errors of `requireUser` as well.
 */
export async function requireFactorUser(context: Context<AppEnv>, deps: AuthDeps): Promise<FactorUser> {
  return checkFactorUser(await requireUser(context, deps));
}

/** As `requireFactorUser`, but reads the body before it looks the user up (see `requireUserWithBody`). */
export async function requireFactorUserWithBody(
  context: Context<AppEnv>,
  deps: AuthDeps,
  read: (context: Context<AppEnv>) => Promise<Body>,
): Promise<{ user: FactorUser; body: Body }> {
  const { body, ...signedIn } = await requireUserWithBody(context, deps, read);
  return { user: checkFactorUser(signedIn), body };
}

function checkFactorUser({ account, session }: AuthenticatedUser): FactorUser {
  if (account.user.is_anonymous) throw new AuthError('anonymous_not_allowed');
  if (session === null) throw new AuthError('session_not_found');
  return { account, session };
}

/** The factor that the path names. Another user's factor is answered like an unknown one. */
export async function requireFactor(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { account }: FactorUser,
): Promise<StoredFactor> {
  const id = context.req.param('id') ?? '';
  if (!UUID.test(id)) throw new AuthError('factor_id_not_uuid');
  const factor = await findFactor(deps.database.asService('find a factor'), { id, userId: account.user.id });
  if (!factor) throw new AuthError('factor_not_found');
  return factor;
}

/**
 * Threat: a stranger at an unlocked device adds a factor or passkey of their own, or reads new recovery codes, and so
 * keeps the account. A session older than 24 hours must pass the second step again, or, if the user has no verified
 * factor, send a mailed or texted code as `nonce`.
 */
export async function requireRecentSignIn(
  deps: AuthDeps,
  { account, session }: FactorUser,
  nonce: string,
): Promise<void> {
  const token = await requireReauthentication(deps, {
    user: account.user,
    session,
    nonce: hasVerifiedFactor(account) ? '' : nonce,
    error: 'sign_in_method_needs_reauthentication',
  });
  if (token !== null && !(await consumeToken(deps.database.asService('reauthenticate'), token)))
    throw new AuthError('reauthentication_not_valid');
}

const MAX_NAME_LENGTH = 120;

export function checkFriendlyName(name: string): string {
  if (name.length > MAX_NAME_LENGTH) throw new AuthError('friendly_name_too_long');
  return name;
}

/** Authenticates a request that adds or removes a way to sign in (docs/specification/wire.md 28). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { Account } from '../accounts/accounts.ts';
import { consumeToken } from './one-time-tokens.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import type { AsService } from '#server/database/database.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { AuthError } from '../http/errors.ts';
import { requireReauthentication } from './reauthentication.ts';
import { lacksSecondStep, requireUser } from '../sessions/require-user.ts';

export type LinkingUser = {
  account: Account;
  session: SessionRow | null;
  /**
   * Uses up the mailed or texted code, if one was needed. Throws `reauthentication_not_valid` if it was used before.
   */
  consumeCode(service: AsService): Promise<void>;
};

/**
 * Threat: a thief of a session links an account of their own and returns after the owner has changed the password. Like
 * a change of the password, linking needs a sign-in of the last 24 hours or a mailed or texted code (`nonce`). It also
 * needs the second step if the user has a second factor.
 */
export async function requireLinking(context: Context<AppEnv>, deps: AuthDeps, nonce = ''): Promise<LinkingUser> {
  const { account, session } = await requireUser(context, deps);
  const { user } = account;
  if (!deps.config.auth.manualLinking || user.is_sso_user) throw new AuthError('manual_linking_disabled');
  if (lacksSecondStep(account, session)) throw new AuthError('identity_needs_aal2');
  await deps.limits.consumeChange({ account, session });
  const error = 'identity_needs_reauthentication';
  const code = await requireReauthentication(deps, { user, session, nonce, error });
  return {
    account,
    session,
    async consumeCode(service) {
      if (code !== null && !(await consumeToken(service, code))) throw new AuthError('reauthentication_not_valid');
    },
  };
}

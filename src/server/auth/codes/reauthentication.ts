/** Reauthentication before a change of the ways to sign in to an account (docs/specification/accounts.md 7). */
import type { UserRow } from '../accounts/accounts.ts';
import { findByCode, type FoundToken } from './one-time-tokens.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { reauthenticationTarget } from './reauthenticate-by-phone.ts';
import { AuthError, type AuthErrorName } from '../http/errors.ts';

const RECENT_MS = 24 * 3_600_000;

type Change = { user: UserRow; session: SessionRow | null; nonce: string; error: AuthErrorName };

/**
 * Returns null for a recent session, and for an anonymous user, who has no address that a code could go to. Otherwise
 * returns the verified token of the mailed or texted code, which the caller must consume. Throws `error` if the request
 * has no code, and `reauthentication_not_valid` for a wrong code.
 */
export async function requireReauthentication(
  deps: AuthDeps,
  { user, session, nonce, error }: Change,
): Promise<FoundToken | null> {
  const now = deps.clock.now();
  if (user.is_anonymous || isRecentlyAuthenticated(session, now)) return null;
  if (nonce === '') throw new AuthError(error);
  const token = await findByCode(deps.database.asService('check a reauthentication'), {
    address: reauthenticationTarget(user)?.address ?? '',
    code: nonce,
    purposes: ['reauthentication'],
    now,
    key: deps.secrets.oneTimeCodes,
    userId: user.id,
  });
  if (!token) throw new AuthError('reauthentication_not_valid');
  return token;
}

/** True if the session began, or passed a second step, within the last 24 hours. */
function isRecentlyAuthenticated(session: SessionRow | null, now: Date): boolean {
  if (session === null) return false;
  // The last entry of `amr` is the method that started the session; earlier entries are second steps.
  const secondSteps = session.amr.slice(0, -1).map((entry) => entry.timestamp * 1000);
  return now.getTime() - Math.max(session.created_at.getTime(), ...secondSteps) < RECENT_MS;
}

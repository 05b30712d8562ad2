/**
 * Proves once more that the owner of the account is at the device, before the account is deleted or its whole journal
 * is downloaded (docs/specification/accounts.md 12).
 *
 * Threat: a thief of a session, or a stranger at an unlocked computer, deletes the account or downloads the journal.
 */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AsService } from '#server/database/database.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Account } from '../accounts/accounts.ts';
import { consumeToken, findByCode, type FoundToken } from './one-time-tokens.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import { reauthenticationTarget } from './reauthenticate-by-phone.ts';
import { signInKey } from '../sessions/device-cookie.ts';
import { AuthError } from '../http/errors.ts';

/** How long a second step, or a sign-in to an account without a password, counts as a proof. */
const FRESH_MS = 10 * 60_000;
/** Values of the `amr` claim that name a factor. If a session has just used one, the owner is at the device. */
const FACTOR_METHODS: ReadonlySet<string> = new Set(['totp', 'mfa/phone', 'mfa/webauthn', 'passkey']);

/**
 * The proof that the request must carry: `password`, or `code` (mailed or texted). `second_step`: the user must first
 * raise the session to `aal2`. `sign_in`: the user must start a new session. `none`: nothing more is needed.
 */
export type RequiredProof = 'none' | 'password' | 'code' | 'sign_in' | 'second_step';

type SignedIn = { account: Account; session: SessionRow | null };

export function requiredProof({ account, session }: SignedIn, now: Date): RequiredProof {
  const { user, factors } = account;
  if (factors.some(({ status }) => status === 'verified') && session?.aal !== 'aal2') return 'second_step';
  const isFresh = ({ timestamp }: { timestamp: number }): boolean => now.getTime() - timestamp * 1000 < FRESH_MS;
  const fresh = (session?.amr ?? []).filter(isFresh);
  if (fresh.some(({ method }) => FACTOR_METHODS.has(method))) return 'none';
  if (user.password_hash !== null) return 'password';
  // An anonymous user can prove nothing beyond the session.
  if (fresh.length > 0 || user.is_anonymous) return 'none';
  return reauthenticationTarget(user) === null ? 'sign_in' : 'code';
}

export type SubmittedProof = { password: string; nonce: string };

/** `consume` uses up a mailed or texted code, and returns false to all but one of several concurrent requests. */
export type Proof = { consume(transaction: AsService): Promise<boolean> };

/**
 * A wrong password counts as a guess at a sign-in, a code as a guess in `findByCode`. Throws `reauthentication_needed`,
 * `insufficient_aal`, `invalid_credentials`, `reauthentication_not_valid` or `over_request_rate_limit`, and
 * BusyError.
 */
export async function proveIdentity(
  context: Context<AppEnv>,
  deps: AuthDeps,
  signedIn: SignedIn,
  { password, nonce }: SubmittedProof,
): Promise<Proof> {
  const required = requiredProof(signedIn, deps.clock.now());
  if (required === 'second_step') throw new AuthError('proof_needs_second_step');
  if (required === 'none') return NOTHING_TO_CONSUME;
  const { account } = signedIn;
  if (password !== '' && account.user.password_hash !== null) {
    await checkPassword(context, deps, account, password);
    return NOTHING_TO_CONSUME;
  }
  // A code also proves the owner of an account with a password: a reader of the mailbox can reset the password anyway.
  if (nonce === '') throw new AuthError('proof_needed');
  const token = await findSentCode(deps, account, nonce);
  return { consume: (transaction) => consumeToken(transaction, token) };
}

const NOTHING_TO_CONSUME: Proof = { consume: () => Promise.resolve(true) };

async function checkPassword(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { user }: Account,
  password: string,
): Promise<void> {
  const refund = await deps.limits.consumeSignIn(
    signInKey(context, deps, { address: user.email ?? user.phone ?? user.id, user }),
  );
  const matches = await deps.passwords.matches(password, user.password_hash).catch(async (error: unknown) => {
    await refund();
    throw error;
  });
  if (!matches) throw new AuthError('invalid_credentials');
  await refund();
}

async function findSentCode(deps: AuthDeps, { user }: Account, code: string): Promise<FoundToken> {
  const token = await findByCode(deps.database.asService('prove an identity'), {
    address: reauthenticationTarget(user)?.address ?? '',
    code,
    purposes: ['reauthentication'],
    now: deps.clock.now(),
    key: deps.secrets.oneTimeCodes,
    userId: user.id,
  });
  if (!token) throw new AuthError('reauthentication_not_valid');
  return token;
}

/**
 * Proof that the owner of an account is at the device: before a change of how the account is signed in to
 * (docs/specification/accounts.md 7, api.md 28), and before its deletion or the download of its journal (accounts.md
 * 12).
 */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { updateUser, type Account, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { signInKey } from '../sessions/device-cookie.ts';
import {
  hasVerifiedFactor,
  lacksSecondStep,
  requireUser,
  type Member,
  type AuthenticatedUser,
} from '../sessions/require-user.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import { consumeToken, findByCode, type FoundToken } from './one-time-tokens.ts';
import type { Device } from '../http/device.ts';
import { consumeRecipientBudget, sendText } from '../phone/send-text.ts';
import { mailReauthentication } from './mail-codes.ts';
import { issuePhoneCode } from './contact.ts';

const RECENT_MS = 24 * 3_600_000;

type Change = {
  user: UserRow;
  session: SessionRow | null;
  nonce: string;
  /** The text of the error if a code is needed. */
  needed: string;
};

/**
 * Returns null for a recent session, and for an anonymous user, who has no address or number for a code. Otherwise
 * returns the verified token of the mailed or texted code, which the caller must consume. Throws
 * `reauthentication_needed` if the request has no code, and `reauthentication_not_valid` for a wrong code.
 */
export async function requireReauthentication(
  deps: AuthDeps,
  { user, session, nonce, needed }: Change,
): Promise<FoundToken | null> {
  if (user.is_anonymous || isRecentlyAuthenticated(session, deps.clock.now())) return null;
  if (nonce === '') throw new AuthError(400, 'reauthentication_needed', needed);
  return findSentCode(deps, user, nonce);
}

/** Throws `reauthentication_not_valid` for a wrong code. `findByCode` counts every call as a guess. */
async function findSentCode(deps: AuthDeps, user: UserRow, code: string): Promise<FoundToken> {
  const token = await findByCode(deps.database.asService('check a reauthentication'), {
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

/** `requireReauthentication`, bound to the caller of a request. */
export type RequireReauthentication = (nonce: string, needed: string) => Promise<FoundToken | null>;

/** True if the session began, or passed a second step, within the last 24 hours. */
function isRecentlyAuthenticated(session: SessionRow | null, now: Date): boolean {
  if (session === null) return false;
  // The last entry of `amr` is the method that started the session; earlier entries are second steps.
  const secondSteps = session.amr.slice(0, -1).map((entry) => entry.timestamp * 1000);
  return now.getTime() - Math.max(session.created_at.getTime(), ...secondSteps) < RECENT_MS;
}

/**
 * Threat: a stranger at an unlocked device adds a factor or passkey of their own, or reads new recovery codes, and so
 * keeps the account. A session older than 24 hours must pass the second step again, or, if the user has no verified
 * factor, send a mailed or texted code as `nonce`.
 */
export async function requireRecentSignIn(deps: AuthDeps, { account, session }: Member, nonce: string): Promise<void> {
  const token = await requireReauthentication(deps, {
    user: account.user,
    session,
    nonce: hasVerifiedFactor(account) ? '' : nonce,
    needed: 'Changing how the account is signed in to requires reauthentication',
  });
  if (token !== null && !(await consumeToken(deps.database.asService('reauthenticate'), token)))
    throw new AuthError('reauthentication_not_valid');
}

export type LinkingUser = {
  account: Account;
  session: SessionRow | null;
  /**
   * Uses up the mailed or texted code, if one was needed. Throws `reauthentication_not_valid` if it was used before.
   */
  consumeCode(service: AsService): Promise<void>;
};

/**
 * Threat: a thief of a session links their own account at a provider, and signs in with it after the owner has changed
 * the password. Like a change of the password, linking needs a sign-in of the last 24 hours or a mailed or texted code
 * (`nonce`). It also needs the second step if the user has a second factor.
 */
export async function requireLinking(context: Context<AppEnv>, deps: AuthDeps, nonce = ''): Promise<LinkingUser> {
  const { account, session } = await requireUser(context, deps);
  const { user } = account;
  if (!deps.config.auth.manualLinking || user.is_sso_user)
    throw new AuthError(404, 'manual_linking_disabled', 'Manual linking is disabled');
  if (lacksSecondStep(account, session))
    throw new AuthError(403, 'insufficient_aal', 'AAL2 session is required to update identities when MFA is enabled.');
  await deps.limits.consumeChange({ account, session });
  const code = await requireReauthentication(deps, {
    user,
    session,
    nonce,
    needed: 'Identity update requires reauthentication',
  });
  return {
    account,
    session,
    async consumeCode(service) {
      if (code !== null && !(await consumeToken(service, code))) throw new AuthError('reauthentication_not_valid');
    },
  };
}

/** How long a second step, a passkey, or a sign-in to an account without a password counts as a proof. */
const FRESH_MS = 10 * 60_000;
/**
 * Values of the `amr` claim that name a factor or a passkey. If a session has just used one, the owner is at the
 * device.
 */
const FACTOR_METHODS: ReadonlySet<string> = new Set(['totp', 'mfa/phone', 'mfa/webauthn', 'passkey']);

/**
 * The proof that the request must carry: `password`, which a code may replace, or `code` (mailed or texted).
 * `second_step`: the user must first raise the session to `aal2`. `sign_in`: the user must start a new session. `none`:
 * nothing more is needed.
 */
type RequiredProof = 'none' | 'password' | 'code' | 'sign_in' | 'second_step';

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
 * Proves once more that the owner of the account is at the device, before the account is deleted or its whole journal
 * is downloaded (docs/specification/accounts.md 12).
 *
 * Threat: a thief of a session, or a stranger at an unlocked computer, deletes the account or downloads the journal.
 *
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
  if (required === 'second_step')
    throw new AuthError(403, 'insufficient_aal', 'AAL2 session is required when MFA is enabled');
  if (required === 'none') return NOTHING_TO_CONSUME;
  const { account } = signedIn;
  if (password !== '' && account.user.password_hash !== null) {
    await checkPassword(context, deps, account, password);
    return NOTHING_TO_CONSUME;
  }
  // A code also proves the owner of an account with a password: a reader of the mailbox can reset the password anyway.
  if (nonce === '') throw new AuthError(400, 'reauthentication_needed', 'This requires reauthentication');
  const token = await findSentCode(deps, account.user, nonce);
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

type Given = { caller: AuthenticatedUser; device: Device };

/**
 * GET /reauthenticate: mails or texts a code. A session older than 24 hours needs it, for example to change the
 * password (docs/specification/accounts.md 7, api.md 26).
 */
export const sendReauthenticationCode: Endpoint<Given> = async (
  context,
  deps,
  { caller: { account }, device: { ip } },
) => {
  const { user } = account;
  const target = reauthenticationTarget(user);
  if (target === null) throw missingTargetError(user);
  if (target.channel === 'phone') await textReauthentication(deps, user, target.address, ip);
  else await mailReauthentication(deps, deps.database.asService('reauthenticate'), account);
  return context.json({});
};

/** Where a reauthentication code goes: the confirmed address, else the confirmed number; null without either. */
function reauthenticationTarget({ email, email_confirmed_at, phone, phone_confirmed_at }: UserRow) {
  if (email !== null && email_confirmed_at !== null) return { channel: 'email', address: email } as const;
  if (phone !== null && phone_confirmed_at !== null) return { channel: 'phone', address: phone } as const;
  return null;
}

/** Why a user without a target gets no code. */
function missingTargetError({ email, phone }: UserRow): AuthError {
  if (email !== null) return new AuthError(422, 'email_not_confirmed', 'Please verify your email first.');
  return phone === null
    ? invalidRequest('Reauthentication requires the user to have an email or a phone number')
    : new AuthError(422, 'phone_not_confirmed', 'Please verify your phone first.');
}

/** Reauthentication of a user without a confirmed address (docs/specification/api.md 26). */
async function textReauthentication(deps: AuthDeps, user: UserRow, phone: string, ip: string): Promise<void> {
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  await consumeRecipientBudget(deps, { phone, ip, asker: 'owner' });
  const service = deps.database.asService('reauthenticate by phone');
  const text = await issuePhoneCode(deps, service, { userId: user.id, purpose: 'reauthentication', phone });
  await updateUser(service, user.id, { reauthentication_sent_at: deps.clock.now() });
  await sendText(deps, { phone, text, share: 'owner' });
}

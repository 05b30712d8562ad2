/** /factors/recovery-codes: codes that replace a lost second factor (docs/specification/wire.md 31). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AsService } from '#server/database/database.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { mailRecoveryCodeUsed } from './factor-mails.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { requireLiveSession } from '../sessions/require-user.ts';
import { completeSecondStep, countGuess, failSecondStep } from './complete-second-step.ts';
import { RECOVERY_CODE_METHOD, endSecondStep, listFactors } from './factor-store.ts';
import {
  createCodeSet,
  deleteCodeSet,
  findCodeSet,
  normalizeCode,
  replaceCodes,
  useCode,
  type CodeSet,
  type NewCodes,
} from './recovery-code-store.ts';
import {
  checkFriendlyName,
  requireFactorUser,
  requireFactorUserWithBody,
  requireRecentSignIn,
  type FactorUser,
} from './require-factor-user.ts';

const TYPE = 'recovery_code';
const DEFAULT_NAME = 'Recovery codes';

export const showRecoveryCodes: Endpoint = async (context, deps) => {
  const { account } = await requireFactorUser(context, deps);
  const set = await findCodeSet(deps.database.asService('count recovery codes'), account.user.id);
  if (!set) throw new AuthError('recovery_codes_not_found');
  return context.json({ id: set.id, type: TYPE, total: set.total, remaining: set.remaining });
};

export const createRecoveryCodes: Endpoint = async (context, deps) => {
  await deps.limits.consume('factor', deviceOf(context, deps).ip);
  const { user, body } = await requireFactorUserWithBody(context, deps, readOptionalBody);
  const friendlyName = checkFriendlyName(body.text('friendly_name')) || DEFAULT_NAME;
  return issueCodes(context, deps, user, async (transaction, codes) => {
    const factors = await listFactors(transaction, codes.userId);
    if (!factors.some((factor) => factor.status === 'verified')) throw new AuthError('recovery_codes_alone');
    const issued = await createCodeSet(transaction, { ...codes, friendlyName });
    if (!issued) throw new AuthError('recovery_codes_exist');
    return issued;
  });
};

export const regenerateRecoveryCodes: Endpoint = async (context, deps) => {
  await deps.limits.consume('factor', deviceOf(context, deps).ip);
  const user = await requireFactorUser(context, deps);
  return issueCodes(context, deps, user, async (transaction, codes) => {
    const issued = await replaceCodes(transaction, codes);
    if (!issued) throw new AuthError('recovery_codes_not_found');
    return issued;
  });
};

type IssuedCodes = { set: CodeSet; codes: string[] };

/** Shows the codes once: the database has their hashes only. */
async function issueCodes(
  context: Context<AppEnv>,
  deps: AuthDeps,
  user: FactorUser,
  issue: (transaction: AsService, codes: NewCodes) => Promise<IssuedCodes>,
): Promise<Response> {
  await requireRecentSecondStep(deps, user);
  await deps.limits.consumeChange(user);
  const [userId, now] = [user.account.user.id, deps.clock.now()];
  const { set, codes } = await deps.database.transactAsService('issue recovery codes', async (transaction) => {
    await lockUser(transaction, userId);
    await requireLiveSession(transaction, user.session);
    const issued = await issue(transaction, { userId, now, key: deps.secrets.recoveryCodes });
    await recordAuditEvent(transaction, {
      at: now,
      userId,
      actor: 'user',
      event: 'recovery_codes_created',
      device: deviceOf(context, deps),
    });
    return issued;
  });
  return context.json({ id: set.id, type: TYPE, friendly_name: set.friendly_name, total: codes.length, codes });
}

/**
 * Requires `aal2` and a recent sign-in or second step. Threat: a stranger at an unlocked device reads new codes and can
 * then pass every later second step.
 */
async function requireRecentSecondStep(deps: AuthDeps, user: FactorUser): Promise<void> {
  if (user.session.aal === 'aal1') throw new AuthError('recovery_codes_need_second_step');
  await requireRecentSignIn(deps, user, '');
}

export const verifyRecoveryCode: Endpoint = async (context, deps) => {
  await deps.limits.consume('factor_verify', deviceOf(context, deps).ip);
  const user = await requireFactorUser(context, deps);
  const code = normalizeCode((await readBody(context)).text('code'));
  if (code === '') throw new AuthError('factor_code_missing');
  const userId = user.account.user.id;
  const failure = { details: { factor_type: TYPE }, error: 'recovery_code_wrong' as const };
  const set = await findCodeSet(deps.database.asService('verify a recovery code'), userId);
  if (!set) throw new AuthError('recovery_code_wrong');
  // New codes get a rate-limit key of their own, so guesses at the previous codes do not count.
  const guessed = `${set.id}@${set.created_at.getTime()}`;
  const refund = await countGuess(deps, user, guessed, 'recovery_codes_locked');
  const session = await completeSecondStep(context, deps, user, {
    method: RECOVERY_CODE_METHOD,
    factorId: null,
    event: 'recovery_code_used',
    details: {},
    accept: (transaction) =>
      useCode(transaction, { userId, code, now: deps.clock.now(), key: deps.secrets.recoveryCodes }),
  });
  if (!session) return failSecondStep(context, deps, user, failure);
  await refund();
  mailRecoveryCodeUsed(deps, user.account.user, set.remaining - 1);
  return context.json(session);
};

export const deleteRecoveryCodes: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('factor', device.ip);
  const user = await requireFactorUser(context, deps);
  await requireRecentSecondStep(deps, user);
  await deps.limits.consumeChange(user);
  const userId = user.account.user.id;
  const set = await deps.database.transactAsService('delete recovery codes', async (transaction) => {
    await lockUser(transaction, userId);
    await requireLiveSession(transaction, user.session);
    const deleted = await deleteCodeSet(transaction, userId);
    if (!deleted) throw new AuthError('recovery_codes_not_found');
    // The session of the request keeps `aal2`: a user who came in with a recovery code can still remove a lost factor.
    await endSecondStep(transaction, { userId, method: RECOVERY_CODE_METHOD, exceptSessionId: user.session.id });
    await recordAuditEvent(transaction, {
      at: deps.clock.now(),
      userId,
      actor: 'user',
      event: 'factor_removed',
      device,
      details: { factor_type: TYPE },
    });
    return deleted;
  });
  return context.json({ id: set.id });
};

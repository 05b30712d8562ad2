/**
 * /factors/recovery-codes: codes that replace a lost second factor. A user has one set of ten, each good for one second
 * step (docs/specification/api.md 31).
 */
import { createHmac, randomBytes } from 'node:crypto';
import { base32crockford } from '@scure/base';
import type { Context } from 'hono';
import type { Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables } from '#server/database/tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { lockSignedInUser, type Member } from '../sessions/require-user.ts';
import { mailRecoveryCodesCreated, mailRecoveryCodeUsed } from './factor-mails.ts';
import { checkFriendlyName, endSecondStep, listFactors, RECOVERY_CODE_METHOD } from './factor-store.ts';
import { completeSecondStep, countGuess, failSecondStep } from './second-step.ts';

const TYPE = 'recovery_code';
const DEFAULT_NAME = 'Recovery codes';
const WRONG_CODE = 'Invalid recovery code entered';

export const showRecoveryCodes: Endpoint<{ caller: Member }> = async (context, deps, { caller: { account } }) => {
  const set = await findCodeSet(deps.database.asService('count recovery codes'), account.user.id);
  if (!set) throw new AuthError('recovery_codes_not_found');
  return context.json({ id: set.id, type: TYPE, total: set.total, remaining: set.remaining });
};

type Given = { caller: Member; device: Device; requireRecentSignIn: (nonce: string) => Promise<void> };

export const createRecoveryCodes: Endpoint<Given & { body: Body }> = async (context, deps, { body, ...given }) => {
  const friendlyName = checkFriendlyName(body.text('friendly_name')) || DEFAULT_NAME;
  return issueCodes(context, deps, given, async (transaction, codes) => {
    const factors = await listFactors(transaction, codes.userId);
    if (!factors.some((factor) => factor.status === 'verified'))
      throw new AuthError(
        422,
        'mfa_recovery_codes_sole_factor',
        'At least one other verified factor is required to generate recovery codes',
      );
    const issued = await createCodeSet(transaction, { ...codes, friendlyName });
    if (!issued)
      throw new AuthError(
        422,
        'mfa_verified_factor_exists',
        'Recovery codes are already enrolled for this user, use regenerate to rotate them',
      );
    return issued;
  });
};

export const regenerateRecoveryCodes: Endpoint<Given> = async (context, deps, given) =>
  issueCodes(context, deps, given, async (transaction, codes) => {
    const issued = await replaceCodes(transaction, codes);
    if (!issued) throw new AuthError('recovery_codes_not_found');
    return issued;
  });

type IssuedCodes = { set: CodeSet; codes: string[] };

/** Shows the codes once: the database has their hashes only. */
async function issueCodes(
  context: Context<AppEnv>,
  deps: AuthDeps,
  given: Given,
  issue: (transaction: AsService, codes: NewCodes) => Promise<IssuedCodes>,
): Promise<Response> {
  const { caller: user, device } = given;
  await requireRecentSecondStep(given);
  await deps.limits.consumeChange(user);
  const [userId, now] = [user.account.user.id, deps.clock.now()];
  const { set, codes } = await deps.database.transactAsService('issue recovery codes', async (transaction) => {
    await lockSignedInUser(transaction, userId, user.session);
    const issued = await issue(transaction, { userId, now, key: deps.secrets.recoveryCodes });
    await recordAuditEvent(transaction, { at: now, userId, actor: 'user', event: 'recovery_codes_created', device });
    return issued;
  });
  mailRecoveryCodesCreated(deps, user.account.user);
  return context.json({ id: set.id, type: TYPE, friendly_name: set.friendly_name, total: codes.length, codes });
}

/**
 * Requires `aal2` and a recent sign-in or second step. Threat: a stranger at an unlocked device reads new codes and can
 * then pass every later second step.
 */
async function requireRecentSecondStep({ caller, requireRecentSignIn }: Given): Promise<void> {
  if (caller.session.aal === 'aal1')
    throw new AuthError(403, 'insufficient_aal', 'AAL2 required to manage recovery codes');
  await requireRecentSignIn('');
}

type Verification = { caller: Member; device: Device; body: Body };

export const verifyRecoveryCode: Endpoint<Verification> = async (context, deps, { caller: user, device, body }) => {
  const code = normalizeCode(body.text('code'));
  if (code === '') throw new AuthError('factor_code_missing');
  const userId = user.account.user.id;
  const failure = { details: { factor_type: TYPE }, text: WRONG_CODE, device };
  const set = await findCodeSet(deps.database.asService('verify a recovery code'), userId);
  if (!set) throw new AuthError(422, 'mfa_verification_failed', WRONG_CODE);
  // New codes get a rate-limit key of their own, so guesses at the previous codes do not count.
  const guessed = `${set.id}@${set.created_at.getTime()}`;
  const refund = await countGuess(deps, user, guessed, 'recovery_codes_locked');
  const session = await completeSecondStep(context, deps, user, {
    device,
    method: RECOVERY_CODE_METHOD,
    factorId: null,
    event: 'recovery_code_used',
    details: {},
    accept: (transaction) =>
      useCode(transaction, { userId, code, now: deps.clock.now(), key: deps.secrets.recoveryCodes }),
  });
  if (!session) return failSecondStep(deps, user, failure);
  await refund();
  mailRecoveryCodeUsed(deps, user.account.user, set.remaining - 1);
  return context.json(session);
};

export const deleteRecoveryCodes: Endpoint<Given> = async (context, deps, given) => {
  const { caller: user, device } = given;
  await requireRecentSecondStep(given);
  await deps.limits.consumeChange(user);
  const userId = user.account.user.id;
  const set = await deps.database.transactAsService('delete recovery codes', async (transaction) => {
    await lockSignedInUser(transaction, userId, user.session);
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

const CODE_COUNT = 10;
/** 80 bits, 16 characters. */
const CODE_BYTES = 10;

type CodeSet = Selectable<Tables['auth.recovery_code_sets']>;
type CodeSetStatus = CodeSet & { total: number; remaining: number };

async function findCodeSet(service: AsService, userId: string): Promise<CodeSetStatus | null> {
  const [row] = await service.run(
    queryBuilder
      .selectFrom('auth.recovery_code_sets as codes')
      .selectAll('codes')
      .select((set) => [
        set
          .selectFrom('auth.recovery_codes as code')
          .select((code) => code.fn.countAll<number>().as('total'))
          .whereRef('code.user_id', '=', 'codes.user_id')
          .as('total'),
        set
          .selectFrom('auth.recovery_codes as code')
          .select((code) => code.fn.countAll<number>().as('remaining'))
          .whereRef('code.user_id', '=', 'codes.user_id')
          .where('code.used_at', 'is', null)
          .as('remaining'),
      ])
      .where('codes.user_id', '=', userId),
  );
  return row ? { ...row, total: row.total ?? 0, remaining: row.remaining ?? 0 } : null;
}

type NewCodes = { userId: string; now: Date; key: Buffer };

/** Requires a transaction. Null if the user has a set already. */
async function createCodeSet(
  transaction: AsService,
  { friendlyName, ...codes }: NewCodes & { friendlyName: string },
): Promise<{ set: CodeSet; codes: string[] } | null> {
  const [set] = await transaction.run(
    queryBuilder
      .insertInto('auth.recovery_code_sets')
      .values({ user_id: codes.userId, friendly_name: friendlyName, created_at: codes.now })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .returningAll(),
  );
  return set ? { set, codes: await insertCodes(transaction, codes) } : null;
}

/** Requires a transaction. The old codes stop working. Null if the user has no set. */
async function replaceCodes(
  transaction: AsService,
  codes: NewCodes,
): Promise<{ set: CodeSet; codes: string[] } | null> {
  const [set] = await transaction.run(
    queryBuilder
      .updateTable('auth.recovery_code_sets')
      .set({ created_at: codes.now })
      .where('user_id', '=', codes.userId)
      .returningAll(),
  );
  if (!set) return null;
  await transaction.run(queryBuilder.deleteFrom('auth.recovery_codes').where('user_id', '=', codes.userId));
  return { set, codes: await insertCodes(transaction, codes) };
}

async function insertCodes(transaction: AsService, { userId, key }: NewCodes): Promise<string[]> {
  const codes = Array.from({ length: CODE_COUNT }, () => base32crockford.encode(randomBytes(CODE_BYTES)).toLowerCase());
  const rows = codes.map((code) => ({ user_id: userId, code_hash: hashCode(key, userId, code) }));
  await transaction.run(queryBuilder.insertInto('auth.recovery_codes').values(rows));
  return codes;
}

type UsedCode = NewCodes & { code: string };

/** Marks the code as used. True once for each code of the user. */
async function useCode(service: AsService, { userId, code, key, now }: UsedCode): Promise<boolean> {
  const rows = await service.run(
    queryBuilder
      .updateTable('auth.recovery_codes')
      .set({ used_at: now })
      .where('user_id', '=', userId)
      .where('code_hash', '=', hashCode(key, userId, code))
      .where('used_at', 'is', null)
      .returning('user_id'),
  );
  return rows.length > 0;
}

/** Null if the user has no set. */
async function deleteCodeSet(service: AsService, userId: string): Promise<CodeSet | null> {
  const [set] = await service.run(
    queryBuilder.deleteFrom('auth.recovery_code_sets').where('user_id', '=', userId).returningAll(),
  );
  return set ?? null;
}

/** Ignores case, spaces and hyphens, and reads the letters that people confuse with digits as those digits. */
const normalizeCode = (code: string): string =>
  code.replaceAll(/[\s-]/g, '').toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');

/** Threat: a reader of `auth.recovery_codes` tries codes against the hashes. An HMAC needs the server's key. */
const hashCode = (key: Buffer, userId: string, code: string): Buffer =>
  createHmac('sha256', key).update(`${userId}\0${code}`).digest();

/**
 * Reads, creates, changes and removes the second factors of a user (docs/specification/api.md 31). Enrolment,
 * verification, change and removal lock the user's row first, which serializes them.
 */
import { sql, type Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, FactorType } from '#server/database/tables.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEntry } from '../accounts/audit-log.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { lockSignedInUser, type Member } from '../sessions/require-user.ts';
import type { SessionRow } from '../sessions/sessions.ts';

export type StoredFactor = Selectable<Tables['auth.mfa_factors']>;

/** The `amr` methods of a second step (docs/specification/api.md 31). */
export const FACTOR_METHODS = { totp: 'totp', phone: 'mfa/phone', webauthn: 'mfa/webauthn' } as const satisfies Record<
  FactorType,
  string
>;
export const RECOVERY_CODE_METHOD = 'mfa/recovery_code';

const MAX_FACTORS = 10;
/** A new enrolment deletes factors that are older than this and were never verified. */
const UNVERIFIED_LIFETIME_MS = 300_000;

/** Oldest first. */
export async function listFactors(service: AsService, userId: string): Promise<StoredFactor[]> {
  return service.run(
    queryBuilder.selectFrom('auth.mfa_factors').selectAll().where('user_id', '=', userId).orderBy('created_at'),
  );
}

type FactorKey = { id: string; userId: string };

async function findFactor(service: AsService, { id, userId }: FactorKey): Promise<StoredFactor | null> {
  const [factor] = await service.run(
    queryBuilder.selectFrom('auth.mfa_factors').selectAll().where('id', '=', id).where('user_id', '=', userId),
  );
  return factor ?? null;
}

type NewFactor = {
  id: string;
  userId: string;
  type: FactorType;
  friendlyName: string;
  /** The session that enrols. */
  session: SessionRow;
  /** The sealed secret of a TOTP factor. */
  secret?: Buffer;
  phone?: string;
  device: Device;
  now: Date;
};

export type EnrolmentProblem = 'name_conflict' | 'too_many_factors' | 'second_step_missing' | 'phone_exists';

/** Requires a transaction. Stores the unverified factor and returns null, or stores nothing and returns the problem. */
export async function createFactor(transaction: AsService, factor: NewFactor): Promise<EnrolmentProblem | null> {
  const { id, userId, type, now } = factor;
  await lockSignedInUser(transaction, userId, factor.session);
  const stale = new Date(now.getTime() - UNVERIFIED_LIFETIME_MS);
  await transaction.run(
    queryBuilder
      .deleteFrom('auth.mfa_factors')
      .where('user_id', '=', userId)
      .where('status', '=', 'unverified')
      .where((row) =>
        row.or([
          row('created_at', '<=', stale),
          ...(factor.phone === undefined ? [] : [row('phone', '=', factor.phone)]),
        ]),
      ),
  );
  const factors = await listFactors(transaction, userId);
  const verified = factors.filter((each) => each.status === 'verified');
  if (type === 'phone' && verified.some((each) => each.phone === factor.phone)) return 'phone_exists';
  if (factors.some((each) => each.friendly_name === factor.friendlyName)) return 'name_conflict';
  if (factors.length >= MAX_FACTORS) return 'too_many_factors';
  // Threat: the thief of a password adds a factor of their own, to pass the second step with it.
  if (verified.length > 0 && factor.session.aal === 'aal1') return 'second_step_missing';
  await transaction.run(
    queryBuilder
      .insertInto('auth.mfa_factors')
      .values({
        id,
        user_id: userId,
        factor_type: type,
        friendly_name: factor.friendlyName,
        secret: factor.secret ?? null,
        phone: factor.phone ?? null,
        created_at: now,
        updated_at: now,
      }),
  );
  await recordAuditEvent(transaction, {
    at: now,
    userId,
    actor: 'user',
    event: 'factor_enrolled',
    device: factor.device,
    details: { factor_id: id, factor_type: type },
  });
  return null;
}

type Change = FactorKey & { friendlyName?: string; phone?: string; device: Device; now: Date };
type ChangedFactor = { factor: StoredFactor; hasNewPhone: boolean };

/**
 * Requires a transaction. Changes what an administrator names; only a phone factor gets a number. Null if the user has
 * no such factor.
 */
export async function changeFactor(
  transaction: AsService,
  { id, userId, friendlyName, phone, device, now }: Change,
): Promise<ChangedFactor | 'name_conflict' | 'phone_exists' | null> {
  await lockUser(transaction, userId);
  const factors = await listFactors(transaction, userId);
  const factor = factors.find((each) => each.id === id);
  if (!factor) return null;
  const others = factors.filter((each) => each !== factor);
  const newName = friendlyName === factor.friendly_name ? undefined : friendlyName;
  const newPhone = factor.factor_type !== 'phone' || phone === factor.phone ? undefined : phone;
  if (newName !== undefined && others.some((each) => each.friendly_name === newName)) return 'name_conflict';
  if (newPhone !== undefined && others.some((each) => each.phone === newPhone)) return 'phone_exists';
  const change = {
    ...(newName !== undefined && { friendly_name: newName }),
    ...(newPhone !== undefined && { phone: newPhone }),
  };
  const fields = Object.keys(change);
  if (fields.length === 0) return { factor, hasNewPhone: false };
  await transaction.run(
    queryBuilder
      .updateTable('auth.mfa_factors')
      .set({ ...change, updated_at: now })
      .where('id', '=', id),
  );
  // Threat: the holder of the earlier number enters a code that was texted to it.
  if (newPhone !== undefined)
    await transaction.run(queryBuilder.deleteFrom('auth.mfa_challenges').where('factor_id', '=', id));
  await recordAuditEvent(transaction, {
    at: now,
    userId,
    actor: 'service',
    event: 'factor_changed',
    device,
    details: { factor_id: id, factor_type: factor.factor_type, fields },
  });
  return { factor: { ...factor, ...change, updated_at: now }, hasNewPhone: newPhone !== undefined };
}

type Removal = FactorKey & {
  actor: AuditEntry['actor'];
  device?: Device;
  now: Date;
  /** Keeps a factor that was verified meanwhile. */
  onlyUnverified?: boolean;
};

/**
 * Requires a transaction. Removes a factor with its credential. Sessions that the factor confirmed drop to `aal1`,
 * unless a passkey started them; their access tokens say so from the next renewal on. Recovery codes cannot exist
 * without a verified factor, so they are deleted with the last one. Null if the user has no such factor, or if
 * `onlyUnverified` keeps it.
 */
export async function removeFactor(transaction: AsService, removal: Removal): Promise<StoredFactor | null> {
  const { id, userId, actor, device, now } = removal;
  await lockUser(transaction, userId);
  const factor = await findFactor(transaction, { id, userId });
  if (!factor || (removal.onlyUnverified && factor.status === 'verified')) return null;
  await endSecondStep(transaction, { factorId: id, method: FACTOR_METHODS[factor.factor_type] });
  await transaction.run(queryBuilder.deleteFrom('auth.mfa_factors').where('id', '=', id));
  if (factor.credential_id !== null) {
    await transaction.run(queryBuilder.deleteFrom('auth.webauthn_credentials').where('id', '=', factor.credential_id));
  }
  const remaining = await listFactors(transaction, userId);
  if (factor.status === 'verified' && !remaining.some((each) => each.status === 'verified')) {
    await endSecondStep(transaction, { userId, method: RECOVERY_CODE_METHOD });
    await transaction.run(queryBuilder.deleteFrom('auth.recovery_code_sets').where('user_id', '=', userId));
  }
  await recordAuditEvent(transaction, {
    at: now,
    userId,
    actor,
    event: 'factor_removed',
    ...(device && { device }),
    details: { factor_id: id, factor_type: factor.factor_type, status: factor.status },
  });
  return factor;
}

type ConfirmedSessions = { method: string } & ({ factorId: string } | { userId: string; exceptSessionId?: string });

/**
 * Lowers to `aal1` the sessions that a factor, or a recovery code of the user, has confirmed. Sessions that a passkey
 * started keep `aal2`.
 */
export async function endSecondStep(transaction: AsService, sessions: ConfirmedSessions): Promise<void> {
  const { method } = sessions;
  let query = queryBuilder
    .updateTable('auth.sessions')
    .set((row) => ({
      aal: row.case().when('passkey_id', 'is', null).then('aal1').else(row.ref('aal')).end() as never,
      factor_id: null,
      amr: withoutMethod(method),
    }))
    .where('aal', '!=', 'aal1')
    .returning('id');
  if ('factorId' in sessions) {
    query = query.where('factor_id', '=', sessions.factorId);
  } else {
    query = query
      .where('user_id', '=', sessions.userId)
      .where('factor_id', 'is', null)
      .where(sql<boolean>`amr @> jsonb_build_array(jsonb_build_object('method', ${method}::text))`);
    if (sessions.exceptSessionId !== undefined) query = query.where('id', '!=', sessions.exceptSessionId);
  }
  await transaction.run(query);
}

const withoutMethod = (method: string) =>
  sql<string>`(select coalesce(jsonb_agg(entry order by place), '[]')
    from jsonb_array_elements(amr) with ordinality as entries (entry, place) where entry->>'method' <> ${method})`;

/** The user's factor with the id. Another user's factor is answered like an unknown one. */
export async function findOwnFactor(deps: AuthDeps, { account }: Member, id: string): Promise<StoredFactor> {
  const factor = await findFactor(deps.database.asService('find a factor'), { id, userId: account.user.id });
  if (!factor) throw new AuthError('factor_not_found');
  return factor;
}

const MAX_NAME_LENGTH = 120;

export function checkFriendlyName(name: string): string {
  if (name.length > MAX_NAME_LENGTH) throw invalidRequest('friendly_name must be 120 characters or less');
  return name;
}

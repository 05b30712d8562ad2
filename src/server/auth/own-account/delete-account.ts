/**
 * Deletes an account for good (docs/specification/accounts.md 12). Foreign keys delete every row of the user; what must
 * outlive the account (payments, plan changes, audit rows) loses everything that names a person.
 */
import type { Clock } from '#server/clock.ts';
import type { AsService, Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Logger } from '#server/log.ts';
import { accountDeletedMail } from '#server/mail/account-emails.ts';
import type { Mailer } from '#server/mail/mailer.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEntry } from '../accounts/audit-log.ts';

/** How long the owner can undo a deletion: one hour. */
export const UNDO_DELETION_MS = 3_600_000;

type Deletion = {
  userId: string;
  actor: AuditEntry['actor'];
  now: Date;
  /**
   * Deletes the account only if this is still true once its row is locked: `due` if the time of its deletion
   * (`deletion_due_at`) has come, `abandonedBefore` if `abandonedUsers` still finds it.
   */
  onlyIf?: 'due' | { abandonedBefore: Date };
  /**
   * Returns keys of `auth.rate_limits` that hold an address or number as a hash (`accountGuessKey`). Their counters are
   * deleted with those of the plain address and number.
   */
  findRateLimitKeys?: (addressOrPhone: string) => readonly string[];
};

type DeletedAccount = {
  email: string | null;
  /** Ids of the deleted sessions, for `AccessTokens.invalidateSessions`. */
  endedSessions: string[];
};

/** Null if there is no such account, or if it does not meet `onlyIf`. Idempotent. */
export async function deleteAccount(database: Database, deletion: Deletion): Promise<DeletedAccount | null> {
  const { userId, actor, now, onlyIf, findRateLimitKeys = () => [] } = deletion;
  return database.transactAsService('delete an account', async (transaction) => {
    // Locks the user's row. A concurrent sign-in, which undoes the deletion, either committed before or waits for this
    // lock and then finds no account.
    const user = await lockUser(transaction, userId);
    if (!user) return null;
    const { email, phone, deletion_due_at: dueAt } = user;
    if (onlyIf === 'due' && (dueAt === null || dueAt > now)) return null;
    if (typeof onlyIf === 'object' && !(await isAbandoned(transaction, userId, onlyIf.abandonedBefore))) return null;

    const sessions = await transaction.run(
      queryBuilder.deleteFrom('auth.sessions').where('user_id', '=', userId).returning('id'),
    );
    await transaction.run(queryBuilder.deleteFrom('auth.users').where('id', '=', userId));
    const requestedAt = dueAt && new Date(dueAt.getTime() - UNDO_DELETION_MS);
    await erasePayments(transaction, { userId, requestedAt, now });
    await recordAuditEvent(transaction, { at: now, userId, actor, event: 'deleted' });
    await transaction.statement('select auth.erase_audit_log($1)', [userId]);
    const names = [email, phone].filter((name) => name !== null);
    await deleteRateLimits(transaction, [userId, ...names, ...names.flatMap((name) => findRateLimitKeys(name))]);
    return { email, endedSessions: sessions.map(({ id }) => id) };
  });
}

/** Anonymous users without a session that began or was renewed since `before`. Only a session opens their account. */
const abandonedUsers = (before: Date) =>
  queryBuilder
    .selectFrom('auth.users as user')
    .select('user.id')
    .where('is_anonymous', '=', true)
    .where('user.created_at', '<=', before)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('auth.sessions as session')
            .select('session.id')
            .whereRef('session.user_id', '=', 'user.id')
            .where((session) =>
              session.or([session('session.refreshed_at', '>', before), session('session.created_at', '>', before)]),
            ),
        ),
      ),
    );

/** Reads after the user's row is locked: the user may have come back since the job listed the account. */
async function isAbandoned(transaction: AsService, userId: string, before: Date): Promise<boolean> {
  return (await transaction.run(abandonedUsers(before).where('user.id', '=', userId))).length > 0;
}

type Erasure = { userId: string; requestedAt: Date | null; now: Date };

/**
 * Replaces the user's id in the tables of payments and plans by a random one and empties the stored webhook events,
 * which name the payer. An open order then has a buyer without a profile. Such an order is not captured, or is refunded
 * if PayPal has captured it (`settle-payment.ts`).
 */
async function erasePayments(transaction: AsService, { userId, requestedAt, now }: Erasure): Promise<void> {
  const { rows } = await transaction.statement<{ id: string }>('select public.erase_payer($1) as id', [userId]);
  const nobody = rows[0]!.id;
  // An unprocessed event is still needed: `markEventProcessed` in `payment-store.ts` empties it later.
  await transaction.statement(
    `update public.payment_events set raw = ''
      where raw <> '' and processed_at is not null
        and exists (select from public.payments
                     where user_id = $1 and (position(id::text in raw) > 0 or position(order_id in raw) > 0
                                             or position(capture_id in raw) > 0))`,
    [nobody],
  );
  if (requestedAt === null) return;
  // A payment that completed after the deletion was requested has bought nothing. The job `reconcile-payments` refunds
  // it.
  await transaction.statement(
    `update public.payments set refund_requested_at = coalesce(refund_requested_at, $3), due_at = $3
      where user_id = $1 and status = 'completed' and completed_at >= $2`,
    [nobody, requestedAt, now],
  );
}

/** Deletes the counters of guesses and requests whose key ends with one of `keys`. */
async function deleteRateLimits(transaction: AsService, keys: readonly string[]): Promise<void> {
  await transaction.statement(
    `delete from auth.rate_limits where exists (
       select from unnest($1::text[]) as own (key) where right(rate_limits.key, length(own.key) + 1) = ':' || own.key)`,
    [keys],
  );
}

/** Anonymous accounts are deleted after this time without use. */
const ANONYMOUS_USER_MS = 30 * 24 * 3_600_000;
const MAX_ACCOUNTS_PER_RUN = 200;

type Deps = {
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Pick<Mailer, 'send'>;
  /** As in `Deletion`. */
  findRateLimitKeys: (addressOrPhone: string) => readonly string[];
};

/** Deletes the accounts whose deletion is due, such as an hour after the owner's request. Returns their number. */
export async function deleteDueAccounts(deps: Deps, signal: AbortSignal): Promise<number> {
  const due = queryBuilder
    .selectFrom('auth.users')
    .select('id')
    .where('deletion_due_at', '<=', deps.clock.now())
    .orderBy('deletion_due_at')
    .limit(MAX_ACCOUNTS_PER_RUN);
  const users = await deps.database.asService('find due accounts').run(due);
  return deleteAll(deps, users, { onlyIf: 'due', signal });
}

export async function deleteAbandonedAnonymousUsers(deps: Deps, signal: AbortSignal): Promise<number> {
  const before = new Date(deps.clock.now().getTime() - ANONYMOUS_USER_MS);
  const service = deps.database.asService('find anonymous users');
  const users = await service.run(abandonedUsers(before).limit(MAX_ACCOUNTS_PER_RUN));
  return deleteAll(deps, users, { onlyIf: { abandonedBefore: before }, signal });
}

type Options = { onlyIf: 'due' | { abandonedBefore: Date }; signal: AbortSignal };

/** Logs each account that cannot be deleted, continues with the others and then throws, so that the job runs again. */
async function deleteAll(
  { database, clock, log, mailer, findRateLimitKeys }: Deps,
  users: readonly { id: string }[],
  { onlyIf, signal }: Options,
): Promise<number> {
  const now = clock.now();
  let [deleted, failed] = [0, 0];
  for (const { id: userId } of users) {
    if (signal.aborted) break;
    try {
      const account = await deleteAccount(database, { userId, actor: 'job', now, onlyIf, findRateLimitKeys });
      if (account === null) continue;
      deleted += 1;
      if (account.email !== null) mailer.send(accountDeletedMail({ to: account.email }));
    } catch (error) {
      failed += 1;
      log.error({ err: error, userId }, 'an account cannot be deleted');
    }
  }
  if (failed > 0) throw new Error(`${failed} accounts cannot be deleted`);
  return deleted;
}

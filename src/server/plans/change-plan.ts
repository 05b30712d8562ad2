/**
 * The only place that changes a plan: it updates the profile and adds a row to the ledger `plan_changes` in one
 * transaction.
 */
import { earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import { extendPlan, revokeYear, paidYearStart } from '#domain/payment/payment.ts';
import type { PlanId, PlanColumns } from '#domain/plan/plan.ts';
import type { Clock } from '../clock.ts';
import type { AsService, Database, Identity } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';

type PlanChange = {
  userId: string;
  plan: PlanId;
  /** The last valid day; null means no end date (premium) or no plan (free). */
  accessValidUntil: Day | null;
  /** Names the cause in the ledger, for example `operator grant`. */
  reason: string;
  /** The payment that caused the change, and the first day of its year. */
  paymentId?: string;
  validFrom?: Day | null;
};

/** Returns false, and writes nothing, when the profile does not exist. */
export function changePlan(database: Database, change: PlanChange): Promise<boolean> {
  return database.transactAsService(change.reason, (transaction) => changePlanInTransaction(transaction, change));
}

/** Like `changePlan`, within the caller's transaction. */
export async function changePlanInTransaction(transaction: AsService, change: PlanChange): Promise<boolean> {
  const { userId, plan, accessValidUntil, reason, paymentId = null, validFrom = null } = change;
  const changed = await transaction.run(
    queryBuilder
      .updateTable('profiles')
      .set({ subscription_plan: plan, access_valid_until: accessValidUntil })
      .where('id', '=', userId)
      .returning('id'),
  );
  if (changed.length === 0) return false;
  await transaction.run(
    queryBuilder
      .insertInto('plan_changes')
      .values({
        user_id: userId,
        plan,
        access_valid_until: accessValidUntil,
        reason,
        payment_id: paymentId,
        valid_from: validFrom,
      }),
  );
  return true;
}

// Records expired plans. Access does not depend on that record: every policy checks the date itself, so a plan ends on
// its day even if this job has not run.

/** Returns the number of expired plans. */
export async function expirePlans(database: Database, clock: Clock, signal?: AbortSignal): Promise<number> {
  const today = earliestToday(clock.now());
  const ended = await database
    .asService('expire plans')
    .run(
      queryBuilder
        .selectFrom('profiles')
        .select('id')
        .where('subscription_plan', '=', 'premium')
        .where('access_valid_until', '<', today),
    );
  let expired = 0;
  for (const { id: userId } of ended) {
    if (signal?.aborted) break;
    expired += await database.transactAsService('expiry', async (transaction) => {
      // Re-check under the row lock: the user may have renewed meanwhile.
      const [still] = await transaction.run(
        queryBuilder
          .selectFrom('profiles')
          .select('id')
          .where('id', '=', userId)
          .where('subscription_plan', '=', 'premium')
          .where('access_valid_until', '<', today)
          .forUpdate(),
      );
      if (!still) return 0;
      await changePlanInTransaction(transaction, { userId, plan: 'free', accessValidUntil: null, reason: 'expiry' });
      return 1;
    });
  }
  return expired;
}

// Adds a paid year to a plan or withdraws it, within the transaction that books the money.

type PaidYear = { userId: string; paymentId: string; now: Date };

/** Returns false when the account no longer exists. A unique index rejects a second grant for the same payment. */
export async function grantPaidYear(transaction: AsService, { userId, paymentId, now }: PaidYear): Promise<boolean> {
  const plan = await lockPlan(transaction, userId);
  if (!plan) return false;
  const today = latestToday(now);
  const until = paidUntil(plan);
  return changePlanInTransaction(transaction, {
    userId,
    plan: 'premium',
    // Keep an endless plan that an operator granted while the user was at PayPal.
    accessValidUntil: isEndless(plan) ? null : extendPlan(until, today),
    reason: 'payment',
    paymentId,
    validFrom: paidYearStart(until, today),
  });
}

/** Withdraws the year of a refunded or reversed payment. Other payments' years and operator grants stay. */
export async function withdrawPaidYear(
  transaction: AsService,
  { userId, paymentId, now }: PaidYear,
  reason: 'refund' | 'reversal',
): Promise<void> {
  const plan = await lockPlan(transaction, userId);
  const until = plan && paidUntil(plan);
  if (!until) return;
  const year = await yearStillCounted(transaction, userId, paymentId);
  if (!year) return;
  const left = revokeYear(until, year, latestToday(now));
  await changePlanInTransaction(transaction, {
    userId,
    plan: left === null ? 'free' : 'premium',
    accessValidUntil: left,
    reason,
    paymentId,
  });
}

const isEndless = (plan: PlanColumns): boolean =>
  plan.subscription_plan === 'premium' && plan.access_valid_until === null;
const paidUntil = (plan: PlanColumns): Day | null =>
  plan.subscription_plan === 'premium' ? plan.access_valid_until : null;

/** Locks the profile row, so concurrent changes of one plan add up. */
export async function lockPlan(transaction: AsService, userId: string): Promise<PlanColumns | undefined> {
  const [plan] = await transaction.run(
    queryBuilder
      .selectFrom('profiles')
      .select(['subscription_plan', 'access_valid_until'])
      .where('id', '=', userId)
      .forUpdate(),
  );
  return plan;
}

/**
 * The days that the payment bought. Null when they no longer count: since then the plan has ended or an operator set
 * it.
 */
async function yearStillCounted(
  transaction: AsService,
  userId: string,
  paymentId: string,
): Promise<{ from: Day; until: Day } | null> {
  const changes = await transaction.run(
    queryBuilder
      .selectFrom('plan_changes')
      .select(['payment_id', 'reason', 'plan', 'valid_from', 'access_valid_until'])
      .where('user_id', '=', userId)
      .orderBy('id'),
  );
  const granted = changes.findIndex((change) => change.reason === 'payment' && change.payment_id === paymentId);
  const grant = changes[granted];
  if (!grant?.valid_from || !grant.access_valid_until) return null;
  const overridden = changes.slice(granted + 1).some(({ payment_id, plan }) => payment_id === null || plan === 'free');
  return overridden ? null : { from: grant.valid_from, until: grant.access_valid_until };
}

/** Asks the database, so there is one rule and one clock. */
export async function isCallerPremium(database: Database, identity: Identity): Promise<boolean> {
  const { rows } = await database
    .asUser(identity)
    .statement<{ premium: boolean }>('select public.is_premium() as premium', []);
  return rows[0]!.premium;
}

// Records a use of the plan: the refund rule counts them (docs/specification/plans-and-money.md 7).

/**
 * No-op if the account is gone: the table has no foreign key, so a late row would name a deleted user. The lock waits
 * for a concurrent deletion of the account.
 */
const INSERT_PLAN_USE = `
  insert into public.plan_uses (user_id, kind)
  select id, $2 from public.profiles where id = $1::uuid
     and ($3::int = 0
          or not exists (select from public.plan_uses
                          where user_id = $1::uuid and kind = $2 and used_at > now() - $3 * interval '1 second'))
     for key share`;

/** @param minIntervalSeconds no-op if the user's last use of this kind is younger; 0 records every use */
export async function recordPlanUse(
  service: AsService,
  userId: string,
  kind: 'analysis' | 'export',
  minIntervalSeconds = 0,
): Promise<void> {
  await service.statement(INSERT_PLAN_USE, [userId, kind, minIntervalSeconds]);
}

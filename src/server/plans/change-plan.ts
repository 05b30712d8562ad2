/**
 * The only place that changes a plan: profile and ledger row in one transaction (docs/specification/plans-and-money.md
 * 6).
 */
import type { Day } from '#domain/day/day.ts';
import type { PlanId } from '#domain/plan/plan.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';

export type PlanChange = {
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
    queryBuilder.insertInto('plan_changes').values({
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

/** The one way a plan changes: the profile and a line in the ledger, both or neither (decisions.md 6). */
import type { Day } from '#domain/day/day.ts';
import type { PlanId } from '#domain/plan/plan.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';

export type PlanChange = {
  userId: string;
  plan: PlanId;
  /** The last valid day; null means without end (premium) or none (free). */
  accessValidUntil: Day | null;
  /** Names the cause in the ledger, for example `operator grant`. */
  reason: string;
  /** The payment that brought it about, and the day from which its year was counted. */
  paymentId?: string;
  validFrom?: Day | null;
};

/** Answers false when there is no such profile; nothing is written then. */
export function changePlan(database: Database, change: PlanChange): Promise<boolean> {
  return database.transactAsService(change.reason, (transaction) => changePlanInTransaction(transaction, change));
}

/** The same as a part of something larger, which commits or fails as a whole. */
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

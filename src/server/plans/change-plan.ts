/** The one way a plan changes: the profile and a line in the ledger, both or neither (decisions.md 6). */
import type { Day } from '#domain/day.ts';
import type { PlanId } from '#domain/plan.ts';
import type { Database } from '../database/database.ts';
import { sqlFor } from '../database/sql-for.ts';

type PlanChange = {
  userId: string;
  plan: PlanId;
  /** The last valid day; null means without end (premium) or none (free). */
  accessValidUntil: Day | null;
  /** Names the cause in the ledger, for example `operator grant`. */
  reason: string;
};

/** Answers false when there is no such profile; nothing is written then. */
export function changePlan(database: Database, change: PlanChange): Promise<boolean> {
  const { userId, plan, accessValidUntil, reason } = change;
  return database.transactAsService(reason, async (transaction) => {
    const changed = await transaction.run(
      sqlFor
        .updateTable('profiles')
        .set({ subscription_plan: plan, access_valid_until: accessValidUntil })
        .where('id', '=', userId)
        .returning('id'),
    );
    if (changed.length === 0) return false;
    await transaction.run(
      sqlFor.insertInto('plan_changes').values({ user_id: userId, plan, access_valid_until: accessValidUntil, reason }),
    );
    return true;
  });
}

/** What a payment does to a plan, inside the transaction that books its money: a year is added, or taken away again. */
import { latestToday } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { extendPlan, withdrawYear, yearBegins } from '#domain/payment/payment.ts';
import type { PlanFacts } from '#domain/plan/plan.ts';
import type { AsService } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { changePlanInTransaction } from './change-plan.ts';

export type PaidYear = { userId: string; paymentId: string; now: Date };

/** Answers false when the account is gone. A second grant for the same payment fails in the database. */
export async function grantPaidYear(transaction: AsService, { userId, paymentId, now }: PaidYear): Promise<boolean> {
  const plan = await lockPlan(transaction, userId);
  if (!plan) return false;
  const today = latestToday(now);
  const until = paidUntil(plan);
  return changePlanInTransaction(transaction, {
    userId,
    plan: 'premium',
    // An operator may have given a plan without end while the payer was at PayPal: it stays.
    accessValidUntil: isEndless(plan) ? null : extendPlan(until, today),
    reason: 'payment',
    paymentId,
    validFrom: yearBegins(until, today),
  });
}

/** The year of a payment that went back. What other payments and the operator gave stays. */
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
  const left = withdrawYear(until, year, latestToday(now));
  await changePlanInTransaction(transaction, {
    userId,
    plan: left === null ? 'free' : 'premium',
    accessValidUntil: left,
    reason,
    paymentId,
  });
}

const isEndless = (plan: PlanFacts): boolean =>
  plan.subscription_plan === 'premium' && plan.access_valid_until === null;
const paidUntil = (plan: PlanFacts): Day | null =>
  plan.subscription_plan === 'premium' ? plan.access_valid_until : null;

/** Locked until the end of the transaction, so that two changes of one plan add up. */
export async function lockPlan(transaction: AsService, userId: string): Promise<PlanFacts | undefined> {
  const [plan] = await transaction.run(
    queryBuilder
      .selectFrom('profiles')
      .select(['subscription_plan', 'access_valid_until'])
      .where('id', '=', userId)
      .forUpdate(),
  );
  return plan;
}

/** Null when the end of the plan does not come from this payment any more: it ran out, or an operator set another. */
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

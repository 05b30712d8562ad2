/** Adds a paid year to a plan or withdraws it, within the transaction that books the money. */
import { latestToday, type Day } from '#domain/day/day.ts';
import { extendPlan, revokeYear, paidYearStart } from '#domain/payment/payment.ts';
import type { PlanColumns } from '#domain/plan/plan.ts';
import type { AsService } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { changePlanInTransaction } from './change-plan.ts';

export type PaidYear = { userId: string; paymentId: string; now: Date };

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

/** The days that the payment bought. Null when they no longer count: since then the plan has ended or an operator set it. */
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

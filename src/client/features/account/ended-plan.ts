/** Finds out how and when a paid plan ended, from its plan changes. */
import { dayOf, earlierOf, isBefore, type Day } from '#domain/day/day.ts';
import type { PlanChange } from '#client/lib/api/data-client.ts';

type EndedPlan = { kind: 'expired' | 'returned'; on: Day };
type Change = Pick<PlanChange, 'plan' | 'access_valid_until' | 'reason' | 'changed_at'>;

/** Null if the user never had a paid plan or has one now. `changes` are newest first. */
export function findEndedPlan(changes: readonly Change[], today: Day): EndedPlan | null {
  const [last] = changes;
  const year = changes.find((change) => change.plan === 'premium');
  if (!last || !year) return null;
  const until = year.access_valid_until;
  // The job that records expired plans may not have run yet.
  if (last === year) return until !== null && isBefore(until, today) ? { kind: 'expired', on: until } : null;
  const changedOn = dayOf(new Date(last.changed_at));
  if (last.reason === 'refund' || last.reason === 'reversal') return { kind: 'returned', on: changedOn };
  return { kind: 'expired', on: until === null ? changedOn : earlierOf(until, changedOn) };
}

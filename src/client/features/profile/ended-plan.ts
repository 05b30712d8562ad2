/** How and when somebody's paid plan came to its end, told from the changes that it went through. */
import { dayOf, earlierOf, isBefore } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { PlanChange } from '#client/lib/api/data-client.ts';

export type EndedPlan = { kind: 'over' | 'paid back'; on: Day };
type Change = Pick<PlanChange, 'plan' | 'access_valid_until' | 'reason' | 'changed_at'>;

/** Null for somebody who never had one, or has one now. `changes` are newest first. */
export function endedPlan(changes: readonly Change[], today: Day): EndedPlan | null {
  const [last] = changes;
  const year = changes.find((change) => change.plan === 'premium');
  if (!last || !year) return null;
  const until = year.access_valid_until;
  // The sweep that writes down the end of a plan may still be on its way.
  if (last === year) return until !== null && isBefore(until, today) ? { kind: 'over', on: until } : null;
  const changedOn = dayOf(new Date(last.changed_at));
  if (last.reason === 'refund' || last.reason === 'reversal') return { kind: 'paid back', on: changedOn };
  return { kind: 'over', on: until === null ? changedOn : earlierOf(until, changedOn) };
}

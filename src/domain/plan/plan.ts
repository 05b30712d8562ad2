/** The two plans and their access rules. In SQL: `is_premium`, `first_free_day` and the policies. */
import type { Rows } from '../database-rows.ts';
import { addDays, isBefore, type Day } from '../day/day.ts';

/** US dollars for a year. The only place of the price in the code. */
const PRICE = 24;

/** A user of the free plan is a Dabbler, a user of the premium plan is a Closer. */
export const PLANS = {
  free: { name: 'Dabbler', tagline: 'For the Curious', price: '$0' },
  premium: { name: 'Closer', tagline: 'For the committed', price: `$${PRICE}` },
} as const;
export type PlanId = keyof typeof PLANS;

export const PREMIUM_PRICE = {
  amountMinor: PRICE * 100,
  amount: `${PRICE}.00`,
  currency: 'USD',
  label: `$${PRICE}/year`,
} as const;

/** The coach's daily limit behind "unlimited", for feedback and reviews together. Shown wherever the plan is sold. */
export const FAIR_USE_ANALYSES = 100;
export const FAIR_USE_NOTE = `Fair use: ${FAIR_USE_ANALYSES} analyses a day.`;

/** Free users see today and the 29 days before it (docs/specification/days-and-saving.md 2). */
export const FREE_WINDOW_DAYS = 30;

/** The plan's columns of a profile row. `access_valid_until` is the last valid day; null means no end. */
export type PlanColumns = Pick<Rows['profiles'], 'subscription_plan' | 'access_valid_until'>;

/** `today` is the user's today, or the earliest today on Earth to reproduce the server's check (entry-transport.ts). */
export function isPremium(plan: PlanColumns | null | undefined, today: Day): boolean {
  if (plan?.subscription_plan !== 'premium') return false;
  return plan.access_valid_until === null || !isBefore(plan.access_valid_until, today);
}

/** The first day that a plan may access; null for no limit. */
export function firstOpenDay(premium: boolean, today: Day): Day | null {
  return premium ? null : addDays(today, -(FREE_WINDOW_DAYS - 1));
}

/** True for a day before the plan's window: the server does not return its log. */
export function isLocked(date: Day, premium: boolean, today: Day): boolean {
  const first = firstOpenDay(premium, today);
  return first !== null && isBefore(date, first);
}

/** The two plans and what each opens: the only plan gate in the code (the database repeats it as policies). */
import { addDays, isBefore } from '../day/day.ts';
import type { Day } from '../day/day.ts';

export const PLANS = {
  free: { name: 'Dabbler', tagline: 'For the Curious', price: '$0' },
  premium: { name: 'Closer', tagline: 'For the committed', price: '$24' },
} as const;
export type PlanId = keyof typeof PLANS;

export const PREMIUM_PRICE = { amount: '24.00', currency: 'USD', label: '$24/year' } as const;

/** Free users see today and the 29 days before it (docs/specification/days-and-saving.md 2). */
export const FREE_WINDOW_DAYS = 30;

/** What the profile row says about a plan. `access_valid_until` is the last valid day; null means without end. */
export type PlanFacts = { subscription_plan: PlanId; access_valid_until: Day | null };

/** Premium on a given day. The browser passes its own today, the server the earliest today on Earth. */
export function isPremium(facts: PlanFacts | null | undefined, today: Day): boolean {
  if (facts?.subscription_plan !== 'premium') return false;
  return facts.access_valid_until === null || !isBefore(facts.access_valid_until, today);
}

/** The first day a plan opens, or null where every day is open. */
export function firstOpenDay(premium: boolean, today: Day): Day | null {
  return premium ? null : addDays(today, -(FREE_WINDOW_DAYS - 1));
}

/** A log too old for the plan: it exists, but the server does not give it out. */
export function isLocked(date: Day, premium: boolean, today: Day): boolean {
  const first = firstOpenDay(premium, today);
  return first !== null && isBefore(date, first);
}

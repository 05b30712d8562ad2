/** The rules of paying: what an order is called, how far a year reaches, and when money is given back (docs/specification/plans-and-money.md 7). */
import { addDays, addYears, daysBetween, isBefore } from '../day/day.ts';
import type { Day } from '../day/day.ts';

/** PayPal's name for an order: 17 capitals or digits. */
export const isOrderId = (text: unknown): text is string => typeof text === 'string' && /^[A-Z0-9]{17}$/.test(text);

/** The only list of them besides the check constraint in `database/migrations/app/0004_payments.sql`. */
export const PAYMENT_STATUSES = [
  /** A row and perhaps an order; nobody has agreed to pay. */
  'created',
  /** The payer agreed, and no money has moved yet. */
  'approved',
  /** Somebody is taking the money, or died while doing so. */
  'capturing',
  /** PayPal holds the money back and decides later. */
  'pending',
  'completed',
  'declined',
  'voided',
  'expired',
  'refunded',
  'reversed',
  /** What PayPal says is not what was ordered: a person must look. */
  'needs_review',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

const later = (a: Day, b: Day): Day => (isBefore(a, b) ? b : a);

/** A paid year: from today, or from the end of what is already paid for, whichever is later. */
export function extendPlan(validUntil: Day | null, today: Day): Day {
  return addYears(yearBegins(validUntil, today), 1);
}

/** The day from which `extendPlan` counts. */
export const yearBegins = (validUntil: Day | null, today: Day): Day =>
  validUntil === null ? today : later(validUntil, today);

/**
 * The last valid day once a paid year is taken away again, or null when nothing is left of the plan.
 * `today` is the latest today on Earth: whoever gets the money back has no day more.
 */
export function withdrawYear(validUntil: Day, year: { from: Day; until: Day }, today: Day): Day | null {
  const left = addDays(validUntil, -daysBetween(year.from, year.until));
  return isBefore(today, left) ? left : null;
}

/** The browser asks for a renewal from so many days before the plan ends. */
export const RENEWAL_NOTICE_DAYS = 30;
/** Mails go out so many days before the plan ends. */
export const REMINDER_DAYS = [30, 3] as const;

/** The countries of the European Economic Area, where a distance purchase may be undone. */
const EEA_COUNTRIES: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO'.split(' '),
);
export const COOLING_OFF_DAYS = 14;
/** More than that is significant use (docs/specification/plans-and-money.md 7). */
export const COOLING_OFF_ANALYSES = 3;

export type Purchase = {
  country: string | null;
  paidOn: Day;
  /** What the plan was used for since then. */
  analyses: number;
  exports: number;
};
export type CoolingOffRefusal = 'country' | 'time' | 'analyses' | 'export';

/** Null when a purchase may be undone, or else the first condition that is not met. */
export function coolingOffRefusal(purchase: Purchase, today: Day): CoolingOffRefusal | null {
  if (purchase.country === null || !EEA_COUNTRIES.has(purchase.country)) return 'country';
  if (daysBetween(purchase.paidOn, today) > COOLING_OFF_DAYS) return 'time';
  if (purchase.analyses > COOLING_OFF_ANALYSES) return 'analyses';
  return purchase.exports > 0 ? 'export' : null;
}

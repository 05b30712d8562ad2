/** Order ids, payment statuses, the length of a paid year, and refunds (docs/specification/plans-and-money.md 7). */
import { addYears, daysBetween, isBefore, type Day } from '../day/day.ts';

/** PayPal's order id: 17 capital letters or digits. */
export const isOrderId = (text: unknown): text is string => typeof text === 'string' && /^[A-Z0-9]{17}$/.test(text);

/** The check constraint `payments_known_status` (database/schema.sql) repeats this list. */
export const PAYMENT_STATUSES = [
  /** The row exists, the PayPal order may not exist yet, and the payer has not approved the order. */
  'created',
  /** Approved by the payer, not captured. */
  'approved',
  /** A capture is in flight, or its process crashed during the capture. */
  'capturing',
  /** PayPal holds the capture and decides later. */
  'pending',
  'completed',
  'declined',
  'voided',
  'expired',
  'refunded',
  'reversed',
  /** PayPal's order differs from ours: the operator must check it. */
  'needs_review',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

const laterOf = (a: Day, b: Day): Day => (isBefore(a, b) ? b : a);

/** Adds a year, counted from today or from the end of the paid time, whichever is later. */
export function extendPlan(validUntil: Day | null, today: Day): Day {
  return addYears(paidYearStart(validUntil, today), 1);
}

export const paidYearStart = (validUntil: Day | null, today: Day): Day =>
  validUntil === null ? today : laterOf(validUntil, today);

/**
 * The last valid day after a paid year is revoked, or null if the plan has ended. A later year moves back by a calendar
 * year: it may have the leap day that the revoked one lacks. `today` is the latest today on Earth, so that a refunded
 * user gets no extra day.
 */
export function revokeYear(validUntil: Day, year: { from: Day; until: Day }, today: Day): Day | null {
  const left = validUntil === year.until ? year.from : addYears(validUntil, -1);
  return isBefore(today, left) ? left : null;
}

/** The renewal notice is shown from this many days before the plan ends. */
export const RENEWAL_NOTICE_DAYS = 30;
/** Reminder mails are sent this many days before the plan ends. */
export const REMINDER_DAYS = [30, 3] as const;

/** The European Economic Area, where consumers may withdraw from a distance purchase. */
const EEA_COUNTRIES: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO'.split(' '),
);
export const COOLING_OFF_DAYS = 14;
/** More analyses than this count as significant use (docs/specification/limits.md 3). */
export const MAX_COOLING_OFF_ANALYSES = 3;

export type Purchase = {
  country: string | null;
  paidOn: Day;
  /** The number of analyses and of exports since the purchase. */
  analyses: number;
  exports: number;
};
export type CoolingOffRefusal = 'country' | 'time' | 'analyses' | 'export';

/** The first unmet condition of a withdrawal, or null if the user may withdraw from the purchase. */
export function coolingOffRefusal(purchase: Purchase, today: Day): CoolingOffRefusal | null {
  if (purchase.country === null || !EEA_COUNTRIES.has(purchase.country)) return 'country';
  if (daysBetween(purchase.paidOn, today) > COOLING_OFF_DAYS) return 'time';
  if (purchase.analyses > MAX_COOLING_OFF_ANALYSES) return 'analyses';
  return purchase.exports > 0 ? 'export' : null;
}

// The texts of a receipt, shared by the receipt screen, the payment history and the mails.

export const RECEIPT_ITEM = 'Hustle Forge Closer, one year';

/** `HF-2026-3F9A1C2B`: the year and the first 8 characters of the payment's id. */
export const receiptNumber = (paymentId: string, paidOn: Day): string =>
  `HF-${paidOn.slice(0, 4)}-${paymentId.slice(0, 8).toUpperCase()}`;

/** `$24.00`; the code instead of the symbol for a currency without one in English. */
export const moneyLabel = (amountMinor: number, currency: string): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amountMinor / 100);

/** Builds the content of a receipt from a payment and its plan changes. */
import { daysBetween, utcDayOf, type Day } from '#domain/day/day.ts';
import type { Payment, PlanChange } from '#client/lib/api/data-client.ts';

type Paid = Pick<Payment, 'id' | 'order_id' | 'amount_minor' | 'currency' | 'status' | 'created_at' | 'completed_at'>;
type Change = Pick<PlanChange, 'access_valid_until' | 'reason' | 'changed_at' | 'payment_id' | 'valid_from'>;

export type Receipt = {
  payment: Paid;
  /** In UTC, as on the mailed receipt. */
  paidOn: Day;
  period: { from: Day; until: Day } | null;
  /** The day of the refund or reversal in UTC; null for a payment that stands. */
  returned: Day | null;
};

/** Null if the payment is unknown or was never completed. */
export function buildReceipt(
  id: string | undefined,
  payments: readonly Paid[],
  changes: readonly Change[],
): Receipt | null {
  const payment = payments.find((other) => other.id === id);
  if (!payment || !['completed', 'refunded', 'reversed'].includes(payment.status)) return null;
  const own = changes.filter((change) => change.payment_id === id);
  const year = own.find((change) => change.reason === 'payment');
  const end = own.find((change) => change.reason === 'refund' || change.reason === 'reversal');
  const isReturned = payment.status !== 'completed';
  const paidOn = utcDayOf(new Date(payment.completed_at ?? payment.created_at));
  return {
    payment,
    paidOn,
    period:
      year?.valid_from && year.access_valid_until ? periodOf(paidOn, year.valid_from, year.access_valid_until) : null,
    returned: isReturned && end ? utcDayOf(new Date(end.changed_at)) : null,
  };
}

/**
 * `valid_from` is a day in the latest time zone on Earth. For a year that starts at once, the receipt shows the day of
 * the payment instead; a renewal starts later and keeps `valid_from`.
 */
const periodOf = (paidOn: Day, from: Day, until: Day): { from: Day; until: Day } => ({
  from: daysBetween(paidOn, from) <= 1 ? paidOn : from,
  until,
});

/** How long things last at PayPal, and how often the sweep asks. */
import type { Payment } from './payment-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Longer than the calls of one settlement take. One that takes longer does no harm: the request id guards the money. */
export const LEASE_MS = 30_000;
/** PayPal sends nobody to an older order. */
export const APPROVAL_PAGE_LIFE_MS = 3 * HOUR_MS;
/** Three hours to send the payer, three more to approve and capture; PayPal knows our request ids for as long. */
const ORDER_LIFE_MS = 6 * HOUR_MS;

const ageMs = ({ createdAt }: Pick<Payment, 'createdAt'>, now: Date): number => now.getTime() - createdAt.getTime();

/** PayPal captures nothing any more. */
export const isOld = (payment: Payment, now: Date): boolean => ageMs(payment, now) >= ORDER_LIFE_MS;
/** And nothing that was tried before is still on its way. */
export const isOver = (payment: Payment, now: Date): boolean =>
  ageMs(payment, now) >= ORDER_LIFE_MS + (payment.status === 'capturing' ? HOUR_MS : 0);

/**
 * Once PayPal captures nothing any more. Who gives up an order that still lives looks once more then: another process
 * may have sent its capture long before, and it may arrive after ours was refused.
 */
export const lastLook = ({ createdAt }: Payment, now: Date): Date =>
  new Date(Math.max(createdAt.getTime() + ORDER_LIFE_MS, now.getTime()) + HOUR_MS);

/** When the sweep looks at an open payment next: every five minutes while it is young, once a day while it is held. */
export function nextLook(payment: Pick<Payment, 'createdAt'>, now: Date): Date {
  const age = ageMs(payment, now);
  const waitMs = age < ORDER_LIFE_MS ? 5 * MINUTE_MS : age < 3 * DAY_MS ? HOUR_MS : DAY_MS;
  return new Date(now.getTime() + waitMs);
}

/** After a failure of PayPal's, or when it asks to be left alone for longer. */
export const soon = (now: Date, atLeastMs: number | null = null): Date =>
  new Date(now.getTime() + Math.max(MINUTE_MS, atLeastMs ?? 0));

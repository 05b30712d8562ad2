/** How long things last at PayPal, and how often the sweep asks. */
import type { Payment } from './payment-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * So short because a buyer whose server died waits for it. A settlement with a slow PayPal takes longer (each of its
 * calls up to 27 s, the first with a token up to 39 s), and then a second worker comes in. That costs a few questions
 * and no money: PayPal captures an order once, both send the same request id, money is booked once, and who comes back
 * late neither releases nor ends what another has claimed since. The model test has leases run out in the middle.
 */
export const LEASE_MS = 30_000;

/**
 * A sweep has two parts, the events and then the payments, and neither begins a row after so long. The last row may take
 * 200 s on top, so both together stay below the 600 s after which the job counts as dead, and is begun a second time.
 */
export const SWEEP_PART_MS = MINUTE_MS;
/** So many payments in a row of which PayPal says nothing: it is down, and the others would fare no better. */
export const UNANSWERED_IN_A_ROW = 3;
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

/** A buyer may open a dispute at PayPal, and we may refund, for so long. */
const RETURN_LIFE_MS = 180 * DAY_MS;
/** Nobody else tells us that money went back, and with every such day somebody uses a plan that is not paid for. */
const UNTOLD_LOOK_MS = DAY_MS;
/** PayPal tells us, and gives up after three days: this is for what was lost. */
const TOLD_LOOK_MS = 7 * DAY_MS;

export const mayGoBack = ({ completedAt }: Pick<Payment, 'completedAt'>, now: Date): boolean =>
  completedAt !== null && now.getTime() - completedAt.getTime() < RETURN_LIFE_MS;

/** When the sweep looks next whether the money of a completed payment is still here; null: never again. */
export function nextSlowLook(payment: Pick<Payment, 'completedAt'>, now: Date, hasWebhook: boolean): Date | null {
  if (!mayGoBack(payment, now)) return null;
  const endsAt = payment.completedAt!.getTime() + RETURN_LIFE_MS;
  return new Date(Math.min(now.getTime() + (hasWebhook ? TOLD_LOOK_MS : UNTOLD_LOOK_MS), endsAt));
}

/**
 * When the sweep looks next whether money that we booked as refunded stayed away; null: never again. PayPal calls a
 * capture refunded while the refund is still on its way, and nobody says how long a payer's bank may take to refuse it:
 * the last one begins when nothing can go back any more, and gets as long again.
 */
export function nextRefundLook({ completedAt }: Pick<Payment, 'completedAt'>, now: Date): Date | null {
  const endsAt = (completedAt?.getTime() ?? 0) + 2 * RETURN_LIFE_MS;
  return now.getTime() < endsAt ? new Date(Math.min(now.getTime() + TOLD_LOOK_MS, endsAt)) : null;
}

/** After a failure of PayPal's, or when it asks to be left alone for longer. */
export const soon = (now: Date, atLeastMs: number | null = null): Date =>
  new Date(now.getTime() + Math.max(MINUTE_MS, atLeastMs ?? 0));

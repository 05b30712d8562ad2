/**
 * How long PayPal's orders, approval pages and disputes last, and when the job `reconcile-payments` polls a payment
 * next.
 */
import type { Payment } from './payment-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Short, because a buyer whose server died waits for the lease to end. With a slow PayPal a settlement outlasts its
 * lease (a call takes up to 27 s, or up to 41 s when PayPal rejects the access token), and a second worker starts. The
 * second worker costs a few requests and no money: PayPal captures an order once, both workers send the same request
 * id, and money is booked once. A worker that has lost its lease changes the payment only to what PayPal reports of the
 * capture. `tests/payments/settle.model.test.ts` lets leases expire at any await.
 */
export const LEASE_MS = 30_000;

/**
 * A sweep, which is one run of the job `reconcile-payments`, has two parts, events and payments. Neither part starts a
 * row after this time. The last row of a part may take 200 s more, so the two parts together stay below 600 s. After
 * 600 s the job queue considers the job dead and starts it again (`EXPIRE_SECONDS` in `jobs/job-queue.ts`).
 */
export const MAX_SWEEP_PART_MS = MINUTE_MS;
/**
 * The sweep ends after this many payments in a row without an answer: PayPal is down for the remaining payments too.
 */
export const MAX_CONSECUTIVE_UNANSWERED = 3;
/** PayPal does not show the approval page of an older order. */
export const APPROVAL_PAGE_LIFETIME_MS = 3 * HOUR_MS;
/** Three hours to redirect the payer and three more to approve and capture. An order's request id lasts as long. */
const ORDER_LIFETIME_MS = 6 * HOUR_MS;

const ageMs = ({ createdAt }: Pick<Payment, 'createdAt'>, now: Date): number => now.getTime() - createdAt.getTime();

/** PayPal no longer captures the order. */
export const isCaptureExpired = (payment: Payment, now: Date): boolean => ageMs(payment, now) >= ORDER_LIFETIME_MS;
/** PayPal no longer captures the order, and no earlier capture request can still be in flight. */
export const isFullyExpired = (payment: Payment, now: Date): boolean =>
  ageMs(payment, now) >= ORDER_LIFETIME_MS + (payment.status === 'capturing' ? HOUR_MS : 0);

/**
 * An order that we gave up is polled once more, an hour after PayPal expires it: another process may have sent a
 * capture request before, and PayPal may carry that request out after it has rejected ours.
 */
export const finalPoll = ({ createdAt }: Payment, now: Date): Date =>
  new Date(Math.max(createdAt.getTime() + ORDER_LIFETIME_MS, now.getTime()) + HOUR_MS);

/** The next poll of an open payment: every 5 minutes until it is 6 hours old, hourly until 3 days, then daily. */
export function nextOpenPoll(payment: Pick<Payment, 'createdAt'>, now: Date): Date {
  const age = ageMs(payment, now);
  const waitMs = age < ORDER_LIFETIME_MS ? 5 * MINUTE_MS : age < 3 * DAY_MS ? HOUR_MS : DAY_MS;
  return new Date(now.getTime() + waitMs);
}

/** The period in which a buyer may open a dispute at PayPal and we may refund. */
const RETURN_PERIOD_MS = 180 * DAY_MS;
/** Without a webhook, only polling tells of returned money. Each day of delay is a day of an unpaid plan. */
const POLL_WITHOUT_WEBHOOK_MS = DAY_MS;
/** PayPal sends webhooks and retries for three days. Polling finds returned money whose webhook was lost. */
const POLL_WITH_WEBHOOK_MS = 7 * DAY_MS;

export const isReturnPossible = ({ completedAt }: Pick<Payment, 'completedAt'>, now: Date): boolean =>
  completedAt !== null && now.getTime() - completedAt.getTime() < RETURN_PERIOD_MS;

/** The next poll of a completed payment, for returned money. Null: no more polls. */
export function nextCompletedPoll(payment: Pick<Payment, 'completedAt'>, now: Date, hasWebhook: boolean): Date | null {
  if (!isReturnPossible(payment, now)) return null;
  const endsAt = payment.completedAt!.getTime() + RETURN_PERIOD_MS;
  return new Date(Math.min(now.getTime() + (hasWebhook ? POLL_WITH_WEBHOOK_MS : POLL_WITHOUT_WEBHOOK_MS), endsAt));
}

/**
 * The next poll of a refunded payment, for a refund that failed after we booked it. Null: no more polls. PayPal reports
 * a capture as refunded while the refund is pending, and does not say how long the payer's bank may take to reject it.
 * The last refund can start at the end of the return period, and is given the same time again.
 */
export function nextRefundedPoll({ completedAt }: Pick<Payment, 'completedAt'>, now: Date): Date | null {
  const endsAt = (completedAt?.getTime() ?? 0) + 2 * RETURN_PERIOD_MS;
  return now.getTime() < endsAt ? new Date(Math.min(now.getTime() + POLL_WITH_WEBHOOK_MS, endsAt)) : null;
}

/** When to retry after a failure: in a minute, or later. @param atLeastMs for example the response's `Retry-After` */
export const retryTime = (now: Date, atLeastMs: number | null = null): Date =>
  new Date(now.getTime() + Math.max(MINUTE_MS, atLeastMs ?? 0));

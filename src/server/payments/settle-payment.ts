/**
 * Moves one payment as far as PayPal lets it: the only path from an approved order to a granted year. The browser's
 * return, a webhook and the job `reconcile-payments` all call it.
 *
 * The process may die at every `await`, and any number of processes may run the function at once. While a lease runs,
 * only its holder captures. The request id makes a repeated capture idempotent, and only the transaction that books the
 * money grants the year. No step relies on the memory of an earlier step: PayPal and the row are read again.
 */
import type { PaymentStatus } from '#domain/payment/payment.ts';
import { isOpen, type PaymentDeps, type Settlement, type Payment, type PaymentStore } from './payment-store.ts';
import { PaypalError, type Capture, type Order, type Paypal } from './paypal/paypal.ts';
import {
  finalPoll,
  isCaptureExpired,
  isFullyExpired,
  isReturnPossible,
  LEASE_MS,
  nextCompletedPoll,
  nextOpenPoll,
  nextRefundedPoll,
  retryTime,
} from './polling-schedule.ts';
import { bookReturnedMoney, checkRefunded, continueRefund, type ReturnHint } from './refund-payment.ts';

/** Rejects only when the database fails. */
export async function settlePayment(deps: PaymentDeps, id: string, hint: ReturnHint = null): Promise<Settlement> {
  const payment = await deps.store.find({ id });
  if (!payment) return 'voided';
  try {
    const { status, captureId, orderId } = payment;
    if (status === 'refunded') await checkRefundedWhenDue(deps, payment);
    else if (orderId === null || FINAL.has(status)) await expireWhenOld(deps, payment);
    else if (status === 'completed') await checkCompleted(deps, payment, hint);
    else if (!isOpen(status)) await checkForLateCapture(deps, payment);
    else if (captureId !== null) await checkCapture(deps, payment, captureId);
    else {
      const settlement = await claimAndCapture(deps, payment);
      if (settlement !== 'completed') return settlement;
    }
    if (hint !== null && status !== 'completed') await followHint(deps, payment, hint);
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    // PayPal forgets an unpaid order after a while, so a closed payment has nothing more to poll.
    if (error.status === 404 && !isOpen(payment.status) && payment.status !== 'completed') {
      await deps.store.schedulePoll(id, null);
      return payment.status;
    }
    await postpone(deps, payment, error);
    return 'unknown';
  }
  return statusOf(deps.store, payment);
}

/** No answer of PayPal's changes these statuses. */
const FINAL: ReadonlySet<PaymentStatus> = new Set(['reversed', 'needs_review']);

const statusOf = async (store: PaymentStore, { id }: Payment): Promise<PaymentStatus> =>
  (await store.find({ id }))?.status ?? 'voided';

/**
 * Books returned money of a capture that was booked after the payment was read: events arrive in any order, and several
 * processes handle them. The event is processed once, and a capture need not report that its money went back.
 */
async function followHint(deps: PaymentDeps, { id }: Payment, hint: ReturnHint): Promise<void> {
  const payment = await deps.store.find({ id });
  if (payment?.status === 'completed') await checkCompleted(deps, payment, hint);
}

async function claimAndCapture(deps: PaymentDeps, read: Payment): Promise<Settlement> {
  const { store, clock } = deps;
  const now = clock.now();
  const claimed = await store.claim(read, now, new Date(now.getTime() + LEASE_MS));
  if (!claimed) {
    // Another worker claimed the payment first. If it has released the payment since, `capturing` makes the caller
    // retry.
    const status = await statusOf(store, read);
    return status === 'created' || status === 'approved' ? 'capturing' : status;
  }
  try {
    await captureClaimed(deps, read, claimed);
  } catch (error) {
    return handleFailure(deps, read, claimed, error);
  }
  return statusOf(store, read);
}

/** Reads the order first: it is compared with the payment before money is taken, and may have been captured already. */
async function captureClaimed(deps: PaymentDeps, read: Payment, claimed: Payment): Promise<void> {
  const { store, paypal, clock } = deps;
  const order = await paypal.getOrder(claimed.orderId!);
  if (order.capture) return applyCapture(deps, claimed, order.capture);
  if (!matchesPayment(order, claimed)) {
    deps.log.error({ paymentId: claimed.id, order }, 'an order does not match its payment: needs manual review');
    return store.close(claimed.id, 'needs_review', { claimed });
  }
  const now = clock.now();
  if (order.status === 'VOIDED') return store.close(claimed.id, 'voided', { claimed });
  if (isFullyExpired(read, now)) return store.close(claimed.id, 'expired', { claimed });
  if (order.status !== 'APPROVED') {
    return store.release(claimed, { status: 'created', dueAt: nextOpenPoll(claimed, now) });
  }
  // Too late to capture, and too early to be sure that no earlier capture is in flight.
  if (isCaptureExpired(claimed, now)) {
    return store.release(claimed, { status: 'capturing', dueAt: nextOpenPoll(claimed, now) });
  }
  if (!(await canStillBuy(store, claimed.userId))) {
    return store.close(claimed.id, 'voided', { claimed, dueAt: finalPoll(claimed, now) });
  }
  // While the deletion can be undone, nothing is captured: a later poll captures the payment, or voids it.
  if (await store.isLeaving(claimed.userId)) {
    return store.release(claimed, { status: 'approved', dueAt: nextOpenPoll(claimed, now) });
  }
  const captured = await captureOrFindOrder(paypal, claimed);
  if (captured.capture) return applyCapture(deps, claimed, captured.capture);
  return store.release(claimed, { status: 'capturing', dueAt: retryTime(clock.now()) });
}

/** False for a deleted account, and for one that an operator has given an endless plan: neither may be charged. */
async function canStillBuy(store: PaymentStore, userId: string): Promise<boolean> {
  const buyer = await store.buyer(userId);
  return buyer !== null && !(buyer.subscription_plan === 'premium' && buyer.access_valid_until === null);
}

async function captureOrFindOrder(paypal: Paypal, { id, orderId, refusedCaptures }: Payment): Promise<Order> {
  try {
    return await paypal.captureOrder({ orderId: orderId!, requestId: captureRequestId(id, refusedCaptures) });
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    if (error.issue !== 'ORDER_ALREADY_CAPTURED' && !error.outcomeUnknown) throw error;
    return paypal.getOrder(orderId!);
  }
}

/**
 * Every retry of one capture uses the same id, so PayPal captures once. After PayPal has rejected a capture for good,
 * the next capture needs a new id: PayPal would repeat the rejection, although the payer has chosen another card since.
 */
const captureRequestId = (paymentId: string, refused: number): string =>
  refused === 0 ? `cap-${paymentId}` : `cap-${paymentId}-${refused}`;

/** Books what PayPal reports about a capture: the only place that decides whether the money is ours. */
async function applyCapture(deps: PaymentDeps, payment: Payment, capture: Capture): Promise<void> {
  const { store, clock, log, hasWebhook } = deps;
  const now = clock.now();
  const isMoney =
    capture.status === 'COMPLETED' || capture.status === 'PARTIALLY_REFUNDED' || capture.status === 'REFUNDED';
  const isOurs = matchesPayment(capture, payment) && (capture.orderId === null || capture.orderId === payment.orderId);
  if (!isOurs) {
    log.error({ paymentId: payment.id, capture }, 'a capture does not match its payment: needs manual review');
    return isMoney ? store.bookForReview(payment.id, capture) : store.close(payment.id, 'needs_review', {});
  }
  if (isMoney) {
    const dueAt = nextCompletedPoll({ completedAt: now }, now, hasWebhook);
    const outcome = await store.complete(payment.id, capture, now, dueAt);
    if (outcome !== 'already_booked') {
      log.info({ paymentId: payment.id, captureId: capture.id, outcome }, 'a payment is complete');
    }
    const completed = await store.find({ id: payment.id });
    // Due at once: the money must go back, or some of it went back already.
    if (completed?.status === 'completed' && isDue(completed, now)) await checkCompleted(deps, completed, null);
    return;
  }
  if (capture.status === 'PENDING') return store.markPending(payment.id, capture.id, nextOpenPoll(payment, now));
  if (capture.status === 'DECLINED' || capture.status === 'FAILED') {
    log.info({ paymentId: payment.id, reason: capture.reason }, 'PayPal declined a payment');
    return store.close(payment.id, 'declined', { captureId: capture.id });
  }
  log.error({ paymentId: payment.id, capture }, 'PayPal reports an unknown capture status');
  await postpone(deps, payment);
}

type OrderTerms = { customId: string | null; amountMinor: number; currency: string };
const matchesPayment = (found: OrderTerms, payment: Payment): boolean =>
  found.customId === payment.id && found.amountMinor === payment.amountMinor && found.currency === payment.currency;

async function checkCapture(deps: PaymentDeps, payment: Payment, captureId: string): Promise<void> {
  await applyCapture(deps, payment, await deps.paypal.getCapture(captureId));
}

/** Books money that was captured although we had closed the payment. */
async function checkForLateCapture(deps: PaymentDeps, payment: Payment): Promise<void> {
  const { store, paypal } = deps;
  const { id, status, captureId, orderId } = payment;
  if (captureId !== null) {
    await checkCapture(deps, payment, captureId);
  } else {
    const order = await paypal.getOrder(orderId!);
    if (order.capture) await applyCapture(deps, payment, order.capture);
  }
  const checked = await store.find({ id });
  if (checked?.status === status) await store.schedulePoll(id, null);
}

/**
 * Books returned money, and continues a requested refund. Money that an event reports is booked first: it may be a
 * reversal, whose capture PayPal does not refund.
 */
async function checkCompleted(deps: PaymentDeps, payment: Payment, hint: ReturnHint): Promise<void> {
  const isRefundRequested = payment.refundRequestedAt !== null;
  if (hint !== null || !isRefundRequested) await bookReturnedMoney(deps, payment, hint);
  if (isRefundRequested) await continueRefund(deps, payment);
}

async function checkRefundedWhenDue(deps: PaymentDeps, payment: Payment): Promise<void> {
  if (isDue(payment, deps.clock.now())) await checkRefunded(deps, payment);
}

const isDue = ({ dueAt }: Payment, now: Date): boolean => dueAt !== null && dueAt <= now;

/**
 * Handles a payment that needs no request to PayPal. A closed payment is polled no more. An open payment without a
 * stored order expires with time: the order was never made or its id was lost, so nobody can have approved it.
 */
async function expireWhenOld({ store, clock }: PaymentDeps, payment: Payment): Promise<void> {
  const now = clock.now();
  if (!isOpen(payment.status)) return store.schedulePoll(payment.id, null);
  return isCaptureExpired(payment, now)
    ? store.close(payment.id, 'expired', {})
    : store.schedulePoll(payment.id, nextOpenPoll(payment, now));
}

/** The payer can resolve these issues, by approving the order again or with another card. */
const PAYER_CAN_RESOLVE = new Set([
  'INSTRUMENT_DECLINED',
  'PAYER_ACTION_REQUIRED',
  'REDIRECT_PAYER_FOR_ALTERNATE_FUNDING',
]);

async function handleFailure(deps: PaymentDeps, read: Payment, claimed: Payment, error: unknown): Promise<Settlement> {
  const { store, clock, log } = deps;
  if (!(error instanceof PaypalError)) throw error;
  const now = clock.now();
  const { id } = claimed;
  if (error.issue === 'ORDER_NOT_APPROVED') {
    await store.release(claimed, { status: 'created', dueAt: nextOpenPoll(claimed, now) });
    return 'created';
  }
  if (error.issue !== null && PAYER_CAN_RESOLVE.has(error.issue)) {
    await store.release(claimed, { status: 'created', dueAt: nextOpenPoll(claimed, now), refused: true });
    return 'instrument_declined';
  }
  log.warn({ paymentId: id, err: error, debugId: error.debugId }, 'PayPal did not capture a payment');
  if (error.status === 404 && isFullyExpired(read, now)) {
    await store.close(id, 'expired', { claimed });
    return 'expired';
  }
  if (error.status === 422 && !error.retryable && !error.outcomeUnknown) {
    await store.close(id, 'declined', { claimed, dueAt: finalPoll(claimed, now) });
    return 'declined';
  }
  // If money may have moved, the status stays `capturing`: such a payment expires an hour later (`isFullyExpired`).
  const mayHaveMoved = read.status === 'capturing' || error.outcomeUnknown;
  await store.release(claimed, {
    status: mayHaveMoved ? 'capturing' : 'approved',
    dueAt: retryTime(now, error.retryAfterMs),
  });
  return 'unknown';
}

async function postpone({ store, clock, log }: PaymentDeps, payment: Payment, failure?: PaypalError): Promise<void> {
  if (failure) log.warn({ paymentId: payment.id, err: failure, debugId: failure.debugId }, 'PayPal did not answer');
  if (payment.dueAt === null) return;
  const now = clock.now();
  const isPast =
    (payment.status === 'completed' && !isReturnPossible(payment, now)) ||
    (payment.status === 'refunded' && nextRefundedPoll(payment, now) === null);
  await store.schedulePoll(payment.id, isPast ? null : nextOpenPoll(payment, now));
}

/**
 * Moves one payment as far as PayPal lets it: the one way from an approved order to a granted year, whether the browser
 * came back, a webhook told us, or the sweep looked.
 *
 * It may die at every `await` and be begun again, by any number of processes at once. The claim lets one of them talk
 * to PayPal at a time, the request id makes a second capture the first one, and the transaction that books the money is
 * the only place that grants. No step relies on what an earlier one remembers: PayPal and the row are asked anew.
 */
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import {
  LEASE_MS,
  isOld,
  isOver,
  lastLook,
  mayGoBack,
  nextLook,
  nextRefundLook,
  nextSlowLook,
  soon,
} from './payment-times.ts';
import { isOpen } from './payment-store.ts';
import type { Payment, PaymentStore } from './payment-store.ts';
import { PaypalError } from './paypal/paypal.ts';
import type { Capture, Order, Paypal } from './paypal/paypal.ts';
import { bookReturned, goOnRefunding, lookAtRefunded } from './refund-payment.ts';
import type { ReturnHint } from './refund-payment.ts';

export type PaymentDeps = {
  store: PaymentStore;
  paypal: Paypal;
  clock: Clock;
  log: Logger;
  /** Whether PayPal tells us of money that goes back; otherwise we ask more often. */
  hasWebhook: boolean;
};

export type Settlement =
  /** The money is here and the year is granted; or both were, before it went back. */
  | 'completed'
  | 'refunded'
  /** PayPal holds the money back. */
  | 'pending'
  /** The payer has not agreed. */
  | 'unapproved'
  /** The payer's bank or card refused: the approval page is still good for another one. */
  | 'refused'
  /** No money moved, and none will. */
  | 'ended'
  /** Somebody else is at it. */
  | 'busy'
  /** PayPal did not answer: it goes on later. */
  | 'unknown'
  /** A person must look. */
  | 'needs review';

/** Rejects only when the database fails. */
export async function settlePayment(deps: PaymentDeps, id: string, hint: ReturnHint = null): Promise<Settlement> {
  const payment = await deps.store.find({ id });
  if (!payment) return 'ended';
  try {
    const { status, captureId, orderId } = payment;
    if (status === 'refunded') await lookAtRefundedWhenDue(deps, payment);
    else if (orderId === null || FINAL.has(status)) await giveUpWhenOld(deps, payment);
    else if (status === 'completed') await lookAtCompleted(deps, payment, hint);
    else if (!isOpen(status)) await lookForMoney(deps, payment);
    else if (captureId !== null) await lookAtCapture(deps, payment, captureId);
    else return await takeMoney(deps, payment, hint);
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    // PayPal forgets an order that nobody paid: there is nothing more to learn of it.
    if (error.status === 404 && !isOpen(payment.status) && payment.status !== 'completed') {
      await deps.store.lookAgain(id, null);
      return settlementOf(payment);
    }
    await postpone(deps, payment, error);
    return 'unknown';
  }
  return settlementOf(await deps.store.find({ id }));
}

const SETTLEMENTS: Readonly<Record<PaymentStatus, Settlement>> = {
  created: 'unapproved',
  approved: 'unapproved',
  capturing: 'busy',
  pending: 'pending',
  completed: 'completed',
  refunded: 'refunded',
  reversed: 'refunded',
  declined: 'ended',
  voided: 'ended',
  expired: 'ended',
  needs_review: 'needs review',
};
/** Nothing that PayPal says changes these. */
const FINAL: ReadonlySet<PaymentStatus> = new Set(['reversed', 'needs_review']);

const settlementOf = (payment: Payment | null): Settlement => (payment ? SETTLEMENTS[payment.status] : 'ended');

async function takeMoney(deps: PaymentDeps, read: Payment, hint: ReturnHint): Promise<Settlement> {
  const { store, clock } = deps;
  const now = clock.now();
  const claimed = await store.claim(read, now, new Date(now.getTime() + LEASE_MS));
  if (!claimed) {
    const other = settlementOf(await store.find({ id: read.id }));
    return other === 'unapproved' ? 'busy' : other;
  }
  try {
    await captureOnce(deps, read, claimed);
  } catch (error) {
    return handleFailure(deps, read, claimed, error);
  }
  const taken = await store.find({ id: read.id });
  if (taken?.status === 'completed' && hint !== null) await lookAtCompleted(deps, taken, hint);
  return settlementOf(taken);
}

/** Asks for the order first: what PayPal knows is compared before money is taken, and a capture may be there already. */
async function captureOnce(deps: PaymentDeps, read: Payment, claimed: Payment): Promise<void> {
  const { store, paypal, clock } = deps;
  const order = await paypal.getOrder(claimed.orderId!);
  if (order.capture) return applyCapture(deps, claimed, order.capture);
  if (!fits(order, claimed)) {
    deps.log.error({ paymentId: claimed.id, order }, 'an order is not what was ordered: a person must look');
    return store.end(claimed.id, 'needs_review', { claimed });
  }
  const now = clock.now();
  if (order.status === 'VOIDED') return store.end(claimed.id, 'voided', { claimed });
  if (isOver(read, now)) return store.end(claimed.id, 'expired', { claimed });
  if (order.status !== 'APPROVED') return store.release(claimed, { status: 'created', dueAt: nextLook(claimed, now) });
  // Too late to capture, and too early to be sure that an earlier try is not still on its way.
  if (isOld(claimed, now)) return store.release(claimed, { status: 'capturing', dueAt: nextLook(claimed, now) });
  if (!(await mayStillBuy(store, claimed.userId))) {
    return store.end(claimed.id, 'voided', { claimed, dueAt: lastLook(claimed, now) });
  }
  const captured = await captureApproved(paypal, claimed);
  if (captured.capture) return applyCapture(deps, claimed, captured.capture);
  return store.release(claimed, { status: 'capturing', dueAt: soon(clock.now()) });
}

/** Nothing is taken from somebody who has left, or whom an operator has given a plan without end. */
async function mayStillBuy(store: PaymentStore, userId: string): Promise<boolean> {
  const buyer = await store.buyer(userId);
  return buyer !== null && !(buyer.subscription_plan === 'premium' && buyer.access_valid_until === null);
}

async function captureApproved(paypal: Paypal, { id, orderId, refusedCaptures }: Payment): Promise<Order> {
  try {
    return await paypal.captureOrder({ orderId: orderId!, requestId: captureRequestId(id, refusedCaptures) });
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    if (error.issue !== 'ORDER_ALREADY_CAPTURED' && !error.outcomeUnknown) throw error;
    return paypal.getOrder(orderId!);
  }
}

/**
 * The same id for every try of one capture, so that it happens once. A capture that was refused for good is over: with
 * its id PayPal would repeat the refusal, although the payer has chosen another card since.
 */
const captureRequestId = (paymentId: string, refused: number): string =>
  refused === 0 ? `cap-${paymentId}` : `cap-${paymentId}-${refused}`;

/** Books what PayPal says about the money: the one place that decides whether it is ours. */
async function applyCapture(deps: PaymentDeps, payment: Payment, capture: Capture): Promise<void> {
  const { store, clock, log, hasWebhook } = deps;
  const now = clock.now();
  const isMoney =
    capture.status === 'COMPLETED' || capture.status === 'PARTIALLY_REFUNDED' || capture.status === 'REFUNDED';
  const isOurs = fits(capture, payment) && (capture.orderId === null || capture.orderId === payment.orderId);
  if (!isOurs) {
    log.error({ paymentId: payment.id, capture }, 'a capture is not what was ordered: a person must look');
    return isMoney ? store.review(payment.id, capture) : store.end(payment.id, 'needs_review', {});
  }
  if (isMoney) {
    const outcome = await store.complete(payment.id, capture, now, nextSlowLook({ completedAt: now }, now, hasWebhook));
    if (outcome !== 'nothing')
      log.info({ paymentId: payment.id, captureId: capture.id, outcome }, 'a payment is complete');
    const completed = await store.find({ id: payment.id });
    // Money that is here and cannot stay.
    if (completed?.status === 'completed' && isDue(completed, now)) await lookAtCompleted(deps, completed, null);
    return;
  }
  if (capture.status === 'PENDING') return store.hold(payment.id, capture.id, nextLook(payment, now));
  if (capture.status === 'DECLINED' || capture.status === 'FAILED') {
    log.info({ paymentId: payment.id, reason: capture.reason }, 'PayPal declined a payment');
    return store.end(payment.id, 'declined', { captureId: capture.id });
  }
  log.error({ paymentId: payment.id, capture }, 'PayPal names a state of a capture that is not known here');
  await postpone(deps, payment);
}

type Ordered = { customId: string | null; amountMinor: number; currency: string };
const fits = (found: Ordered, payment: Payment): boolean =>
  found.customId === payment.id && found.amountMinor === payment.amountMinor && found.currency === payment.currency;

async function lookAtCapture(deps: PaymentDeps, payment: Payment, captureId: string): Promise<void> {
  await applyCapture(deps, payment, await deps.paypal.getCapture(captureId));
}

/** A payment that we gave up: money that moved in spite of that is booked. */
async function lookForMoney(deps: PaymentDeps, payment: Payment): Promise<void> {
  const { store, paypal } = deps;
  const { id, status, captureId, orderId } = payment;
  if (captureId !== null) {
    await lookAtCapture(deps, payment, captureId);
  } else {
    const order = await paypal.getOrder(orderId!);
    if (order.capture) await applyCapture(deps, payment, order.capture);
  }
  const seen = await store.find({ id });
  if (seen?.status === status) await store.lookAgain(id, null);
}

async function lookAtCompleted(deps: PaymentDeps, payment: Payment, hint: ReturnHint): Promise<void> {
  if (payment.refundRequestedAt !== null) await goOnRefunding(deps, payment);
  else await bookReturned(deps, payment, hint);
}

async function lookAtRefundedWhenDue(deps: PaymentDeps, payment: Payment): Promise<void> {
  if (isDue(payment, deps.clock.now())) await lookAtRefunded(deps, payment);
}

const isDue = ({ dueAt }: Payment, now: Date): boolean => dueAt !== null && dueAt <= now;

/** The order was never made, or its name was lost: nobody can have approved it. */
async function giveUpWhenOld({ store, clock }: PaymentDeps, payment: Payment): Promise<void> {
  const now = clock.now();
  if (!isOpen(payment.status)) return store.lookAgain(payment.id, null);
  return isOld(payment, now)
    ? store.end(payment.id, 'expired', {})
    : store.lookAgain(payment.id, nextLook(payment, now));
}

/** The payer can help: by agreeing, or with another card. */
const PAYER_CAN_HELP = new Set([
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
    await store.release(claimed, { status: 'created', dueAt: nextLook(claimed, now) });
    return 'unapproved';
  }
  if (error.issue !== null && PAYER_CAN_HELP.has(error.issue)) {
    await store.release(claimed, { status: 'created', dueAt: nextLook(claimed, now), refused: true });
    return 'refused';
  }
  log.warn({ paymentId: id, err: error, debugId: error.debugId }, 'PayPal did not take a payment');
  if (error.status === 404 && isOver(read, now)) {
    await store.end(id, 'expired', { claimed });
    return 'ended';
  }
  if (error.status === 422 && !error.retryable && !error.outcomeUnknown) {
    await store.end(id, 'declined', { claimed, dueAt: lastLook(claimed, now) });
    return 'ended';
  }
  // Where money may have moved it stays `capturing`, so that nothing else is done before PayPal has been asked.
  const mayHaveMoved = read.status === 'capturing' || error.outcomeUnknown;
  await store.release(claimed, {
    status: mayHaveMoved ? 'capturing' : 'approved',
    dueAt: soon(now, error.retryAfterMs),
  });
  return 'unknown';
}

async function postpone({ store, clock, log }: PaymentDeps, payment: Payment, failure?: PaypalError): Promise<void> {
  if (failure) log.warn({ paymentId: payment.id, err: failure, debugId: failure.debugId }, 'PayPal did not answer');
  if (payment.dueAt === null) return;
  const now = clock.now();
  const isPast =
    (payment.status === 'completed' && !mayGoBack(payment, now)) ||
    (payment.status === 'refunded' && nextRefundLook(payment, now) === null);
  await store.lookAgain(payment.id, isPast ? null : nextLook(payment, now));
}

/** Gives money back, and books what went back by whatever way: our own refund, one at PayPal's site, a reversal. */
import { LEASE_MS, nextLook, nextRefundLook, nextSlowLook, soon } from './payment-times.ts';
import type { Payment } from './payment-store.ts';
import { PaypalError } from './paypal/paypal.ts';
import type { Paypal, Refund } from './paypal/paypal.ts';
import type { PaymentDeps } from './settle-payment.ts';

/** What an event said: PayPal's name for the money that went back, and whether the payer's bank took it. */
export type ReturnHint = { refundId: string | null; kind: 'refund' | 'reversal' } | null;

/** Answers false when there is nothing to give back. The rest happens now, or by the sweep. */
export async function refundPayment(deps: PaymentDeps, id: string): Promise<boolean> {
  const requested = await deps.store.requestRefund(id, deps.clock.now());
  const payment = requested ? await deps.store.find({ id }) : null;
  if (payment) await goOnRefunding(deps, payment);
  return payment !== null;
}

export async function goOnRefunding(deps: PaymentDeps, { id }: Payment): Promise<void> {
  const { store, paypal, clock, log } = deps;
  const now = clock.now();
  const claimed = await store.claimRefund(id, now, new Date(now.getTime() + LEASE_MS));
  if (!claimed) return;
  const captureId = claimed.captureId!;
  try {
    const capture = await paypal.getCapture(captureId);
    if (capture.status === 'REFUNDED') return await bookReturned(deps, claimed, null);
    const refund = await paypal.refundCapture({ captureId, requestId: `ref-${id}` });
    await afterRefund(deps, claimed, refund);
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.warn({ paymentId: id, err: error, debugId: error.debugId }, 'PayPal did not refund a payment');
    if (error.issue === 'CAPTURE_FULLY_REFUNDED') return store.lookAgain(id, now);
    const isRefused = error.status === 422 && !error.retryable && !error.outcomeUnknown;
    if (!isRefused) return store.lookAgain(id, soon(now, error.retryAfterMs));
    log.error({ paymentId: id, issue: error.issue }, 'PayPal refuses a refund: a person must look');
    return dropRefund(deps, claimed);
  }
}

const dropRefund = ({ store, clock, hasWebhook }: PaymentDeps, payment: Payment): Promise<void> =>
  store.dropRefund(payment.id, nextSlowLook(payment, clock.now(), hasWebhook));

async function afterRefund(deps: PaymentDeps, payment: Payment, refund: Refund): Promise<void> {
  const { store, clock, log } = deps;
  const now = clock.now();
  if (refund.status === 'COMPLETED') {
    const part = { ref: refund.id, amountMinor: refund.amountMinor };
    const back = { kind: 'refund', part, total: payment.amountMinor, now } as const;
    return store.bookBack(payment.id, { ...back, dueAt: null, dueAtEnd: null });
  }
  if (refund.status === 'PENDING' || refund.status === 'UNKNOWN')
    return store.lookAgain(payment.id, nextLook(payment, now));
  log.error({ paymentId: payment.id, refund }, 'PayPal refuses a refund: a person must look');
  return dropRefund(deps, payment);
}

/** Asks what went back of a completed payment, and books it. */
export async function bookReturned(
  { store, paypal, clock, log, hasWebhook }: PaymentDeps,
  payment: Payment,
  hint: ReturnHint,
): Promise<void> {
  const capture = await paypal.getCapture(payment.captureId!);
  // A capture says that a part went back, and its order how much. One that is `COMPLETED` says nothing: PayPal leaves it
  // so when a bank takes the money back, and only the reversal itself tells.
  const isSilent = capture.status === 'COMPLETED';
  const total = isSilent ? null : (capture.refundedMinor ?? (await refundedOfOrder(paypal, payment)));
  const refund = hint?.refundId ? await refundNamed(paypal, hint.refundId) : null;
  const part = refund?.status === 'COMPLETED' ? { ref: refund.id, amountMinor: refund.amountMinor } : null;
  const isReversed = hint?.kind === 'reversal' || capture.reason === 'CHARGEBACK';
  if (isReversed && part === null && !total) {
    log.error({ paymentId: payment.id }, 'PayPal tells of a reversal and not of how much: a person must look');
  }
  const kind = capture.reason === 'CHARGEBACK' ? 'reversal' : (hint?.kind ?? 'refund');
  const now = clock.now();
  const dueAt = nextSlowLook(payment, now, hasWebhook);
  const dueAtEnd = kind === 'refund' ? nextRefundLook(payment, now) : null;
  await store.bookBack(payment.id, { kind, part, total, now, dueAt, dueAtEnd });
}

/**
 * Looks whether everything that we booked as refunded stayed away. What did not is for a person: the buyer was told,
 * the year has ended, and the books never change. Pay it back by another way.
 */
export async function lookAtRefunded({ store, paypal, clock, log }: PaymentDeps, payment: Payment): Promise<void> {
  const { id, captureId, amountMinor } = payment;
  const capture = await paypal.getCapture(captureId!);
  const isAway = capture.status === 'REFUNDED';
  if (!isAway) {
    log.error({ paymentId: id, captureId, amountMinor }, 'a refund failed after it was booked: a person must look');
  }
  await store.lookAgain(id, isAway ? nextRefundLook(payment, clock.now()) : null);
}

/** Null when PayPal does not know it by that name: what the capture says counts all the same. */
async function refundNamed(paypal: Paypal, id: string): Promise<Refund | null> {
  try {
    return await paypal.getRefund(id);
  } catch (error) {
    if (error instanceof PaypalError && error.status === 404) return null;
    throw error;
  }
}

const refundedOfOrder = async (paypal: Paypal, { orderId }: Payment): Promise<number | null> =>
  (await paypal.getOrder(orderId!)).capture?.refundedMinor ?? null;

/** Refunds payments, and books returned money from any source: our refund, one made at PayPal's site, a reversal. */
import type { PaymentDeps, Payment } from './payment-store.ts';
import { PaypalError, type Paypal, type Refund } from './paypal/paypal.ts';
import { LEASE_MS, nextCompletedPoll, nextOpenPoll, nextRefundedPoll, retryTime } from './polling-schedule.ts';

/** Returned money as a webhook event reports it: PayPal's id of the refund or reversal, and its kind. */
export type ReturnHint = { refundId: string | null; kind: 'refund' | 'reversal' } | null;

/**
 * False if the payment is not `completed`. The job `reconcile-payments` retries until PayPal makes or rejects the
 * refund.
 */
export async function refundPayment(deps: PaymentDeps, id: string): Promise<boolean> {
  const requested = await deps.store.requestRefund(id, deps.clock.now());
  const payment = requested ? await deps.store.find({ id }) : null;
  if (payment) await continueRefund(deps, payment);
  return payment !== null;
}

export async function continueRefund(deps: PaymentDeps, { id }: Payment): Promise<void> {
  const { store, paypal, clock, log } = deps;
  const now = clock.now();
  const claimed = await store.claimRefund(id, now, new Date(now.getTime() + LEASE_MS));
  if (!claimed) return;
  const captureId = claimed.captureId!;
  try {
    const capture = await paypal.getCapture(captureId);
    if (capture.status === 'REFUNDED') return await bookReturnedMoney(deps, claimed, null);
    const refund = await paypal.refundCapture({ captureId, requestId: refundRequestId(claimed) });
    await applyRefund(deps, claimed, refund);
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.warn({ paymentId: id, err: error, debugId: error.debugId }, 'PayPal did not refund a payment');
    if (error.issue === 'CAPTURE_FULLY_REFUNDED') return store.schedulePoll(id, now);
    const isRejected = error.status === 422 && !error.retryable && !error.outcomeUnknown;
    if (!isRejected) return store.schedulePoll(id, retryTime(now, error.retryAfterMs));
    log.error({ paymentId: id, issue: error.issue }, 'PayPal rejects a refund: needs manual review');
    return cancelRefund(deps, claimed);
  }
}

/**
 * Every retry of one request uses the same id, so PayPal refunds once. A request that repeats a failed one needs a new
 * id: PayPal would answer with the failed refund. PayPal refunds no capture twice, whatever the ids.
 */
const refundRequestId = ({ id, refundRequestedAt }: Payment): string => `ref-${id}-${refundRequestedAt!.getTime()}`;

const cancelRefund = ({ store, clock, hasWebhook }: PaymentDeps, payment: Payment): Promise<void> =>
  store.cancelRefund(payment.id, nextCompletedPoll(payment, clock.now(), hasWebhook));

async function applyRefund(deps: PaymentDeps, payment: Payment, refund: Refund): Promise<void> {
  const { store, clock, log } = deps;
  const now = clock.now();
  if (refund.status === 'COMPLETED') {
    const part = { ref: refund.id, amountMinor: refund.amountMinor };
    const back = { kind: 'refund', part, total: payment.amountMinor, now } as const;
    return store.bookReturn(payment.id, { ...back, dueAt: null, dueAtFullReturn: null });
  }
  if (refund.status === 'PENDING' || refund.status === 'UNKNOWN') {
    return store.schedulePoll(payment.id, nextOpenPoll(payment, now));
  }
  log.error({ paymentId: payment.id, refund }, 'PayPal rejects a refund: needs manual review');
  return cancelRefund(deps, payment);
}

/** Asks PayPal how much of a completed payment was returned, and books it. */
export async function bookReturnedMoney(
  { store, paypal, clock, log, hasWebhook }: PaymentDeps,
  payment: Payment,
  hint: ReturnHint,
): Promise<void> {
  const capture = await paypal.getCapture(payment.captureId!);
  // A partly refunded capture lacks the refunded amount, but its order has it. The 0 of a `COMPLETED` capture is ignored:
  // PayPal keeps that status when a bank takes the money back, and only the reversal reports the amount.
  const isSilent = capture.status === 'COMPLETED';
  const total = isSilent ? null : (capture.refundedMinor ?? (await getRefundedOfOrder(paypal, payment)));
  const refund = hint?.refundId ? await findRefund(paypal, hint.refundId) : null;
  const part = refund?.status === 'COMPLETED' ? { ref: refund.id, amountMinor: refund.amountMinor } : null;
  const isReversed = hint?.kind === 'reversal' || capture.reason === 'CHARGEBACK';
  if (isReversed && part === null && !total) {
    log.error({ paymentId: payment.id }, 'PayPal reports a reversal without its amount: needs manual review');
  }
  const kind = capture.reason === 'CHARGEBACK' ? 'reversal' : (hint?.kind ?? 'refund');
  const now = clock.now();
  const dueAt = nextCompletedPoll(payment, now, hasWebhook);
  const dueAtFullReturn = kind === 'refund' ? nextRefundedPoll(payment, now) : null;
  await store.bookReturn(payment.id, { kind, part, total, now, dueAt, dueAtFullReturn });
}

/**
 * Checks that a booked refund has not failed since. A failed refund needs manual review: the buyer was notified, the
 * year has ended and the ledger is append-only. The operator must pay the buyer back in another way.
 */
export async function checkRefunded({ store, paypal, clock, log }: PaymentDeps, payment: Payment): Promise<void> {
  const { id, captureId, amountMinor } = payment;
  const capture = await paypal.getCapture(captureId!);
  const isRefunded = capture.status === 'REFUNDED';
  if (!isRefunded) {
    log.error({ paymentId: id, captureId, amountMinor }, 'a refund failed after it was booked: needs manual review');
  }
  await store.schedulePoll(id, isRefunded ? nextRefundedPoll(payment, clock.now()) : null);
}

/** Null when PayPal does not know the id: then the amount that the capture reports is booked. */
async function findRefund(paypal: Paypal, id: string): Promise<Refund | null> {
  try {
    return await paypal.getRefund(id);
  } catch (error) {
    if (error instanceof PaypalError && error.status === 404) return null;
    throw error;
  }
}

const getRefundedOfOrder = async (paypal: Paypal, { orderId }: Payment): Promise<number | null> =>
  (await paypal.getOrder(orderId!)).capture?.refundedMinor ?? null;

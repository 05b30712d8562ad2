/**
 * Starts a payment: inserts the row, then creates the PayPal order with the row's id in request, custom and invoice id.
 */
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { APPROVAL_PAGE_LIFETIME_MS, nextOpenPoll } from './polling-schedule.ts';
import type { Payment, PaymentDeps } from './payment-store.ts';
import { PaypalError } from './paypal/paypal.ts';

export type StartDeps = PaymentDeps & {
  config: { publicUrl: string; paymentBlockedCountries: readonly string[] };
};

export type Start =
  | { outcome: 'order'; approvalUrl: string }
  /** The plan has no end, so there is nothing to buy. */
  | { outcome: 'endless' }
  /** A payment of this user is approved, being captured, or held by PayPal. */
  | { outcome: 'in progress' }
  | { outcome: 'blocked country' }
  /** The user has too many open payments. */
  | { outcome: 'too many' }
  | { outcome: 'no account' }
  | { outcome: 'PayPal failed' };

/** PayPal redirects the payer here and adds `token`, the order's id (docs/specification/plans-and-money.md 5). */
const DONE_PATH = '/journal?payment=success';
const CANCELLED_PATH = '/journal?payment=cancelled';

/**
 * Threat: a user who changes the country of the profile between two clicks gets a new payment each time. Rows are never
 * deleted, and the job `reconcile-payments` polls PayPal for each open one.
 */
const MAX_OPEN_PAYMENTS = 10;

export async function startPayment(deps: StartDeps, userId: string): Promise<Start> {
  const { store, clock, config } = deps;
  const buyer = await store.buyer(userId);
  if (!buyer) return { outcome: 'no account' };
  if (buyer.subscription_plan === 'premium' && buyer.access_valid_until === null) return { outcome: 'endless' };
  if (buyer.country !== null && config.paymentBlockedCountries.includes(buyer.country)) {
    return { outcome: 'blocked country' };
  }
  const now = clock.now();
  const price = { amountMinor: PREMIUM_PRICE.amountMinor, currency: PREMIUM_PRICE.currency, country: buyer.country };
  const isFresh = (open: Payment): boolean => now.getTime() - open.createdAt.getTime() < APPROVAL_PAGE_LIFETIME_MS;
  const isSame = (open: Payment): boolean =>
    open.amountMinor === price.amountMinor && open.currency === price.currency && open.country === price.country;
  const seen = new Set<string>();
  const payment = await store.begin(
    { userId, ...price, createdAt: now, dueAt: nextOpenPoll({ createdAt: now }, now) },
    (open) => {
      seen.add(open.id);
      return open.status !== 'created' || (isFresh(open) && isSame(open)) || seen.size >= MAX_OPEN_PAYMENTS;
    },
  );
  if (!payment) return { outcome: 'no account' };
  if (payment.status !== 'created') return { outcome: 'in progress' };
  if (!isFresh(payment) || !isSame(payment)) return { outcome: 'too many' };
  if (payment.approvalUrl !== null) return { outcome: 'order', approvalUrl: payment.approvalUrl };
  return order(deps, payment);
}

/** Idempotent, also when the first response was lost or not stored: the request id is made from the payment's id. */
async function order(deps: StartDeps, payment: Payment): Promise<Start> {
  const { store, paypal, clock, log, config } = deps;
  try {
    const created = await paypal.createOrder({
      paymentId: payment.id,
      amountMinor: payment.amountMinor,
      currency: payment.currency,
      returnUrl: config.publicUrl + DONE_PATH,
      cancelUrl: config.publicUrl + CANCELLED_PATH,
    });
    const { approvalUrl } = await store.saveOrder(payment.id, created, nextOpenPoll(payment, clock.now()));
    return { outcome: 'order', approvalUrl: approvalUrl ?? created.approvalUrl };
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.error({ paymentId: payment.id, err: error, debugId: error.debugId }, 'PayPal did not create an order');
    return { outcome: 'PayPal failed' };
  }
}

/** Begins a payment: a row first, which names everything at PayPal, then the order. */
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { APPROVAL_PAGE_LIFE_MS, nextLook } from './payment-times.ts';
import type { Payment } from './payment-store.ts';
import { PaypalError } from './paypal/paypal.ts';
import type { PaymentDeps } from './settle-payment.ts';

export type StartDeps = PaymentDeps & {
  config: { publicUrl: string; paymentBlockedCountries: readonly string[] };
};

export type Start =
  | { outcome: 'order'; approvalUrl: string }
  /** A plan without end: there is nothing to buy. */
  | { outcome: 'endless' }
  /** A payment of this user's is under way. */
  | { outcome: 'under way' }
  | { outcome: 'blocked country' }
  /** This user has begun so many that PayPal would be asked about them all day. */
  | { outcome: 'too many' }
  | { outcome: 'no account' }
  | { outcome: 'PayPal failed' };

/** Where PayPal sends the payer; it adds `token`, the order's id (product.md 4). */
const DONE_PATH = '/journal?payment=success';
const CANCELLED_PATH = '/journal?payment=cancelled';

/**
 * Threat: a row is never deleted and the sweep asks PayPal about each open one, while whoever changes the country of the
 * profile between two clicks gets a new one each time.
 */
const MOST_OPEN = 10;

export const PRICE_MINOR = Math.round(Number(PREMIUM_PRICE.amount) * 100);

export async function startPayment(deps: StartDeps, userId: string): Promise<Start> {
  const { store, clock, config } = deps;
  const buyer = await store.buyer(userId);
  if (!buyer) return { outcome: 'no account' };
  if (buyer.subscription_plan === 'premium' && buyer.access_valid_until === null) return { outcome: 'endless' };
  if (buyer.country !== null && config.paymentBlockedCountries.includes(buyer.country)) {
    return { outcome: 'blocked country' };
  }
  const now = clock.now();
  const price = { amountMinor: PRICE_MINOR, currency: PREMIUM_PRICE.currency, country: buyer.country };
  const isFresh = (open: Payment): boolean => now.getTime() - open.createdAt.getTime() < APPROVAL_PAGE_LIFE_MS;
  const isSame = (open: Payment): boolean =>
    open.amountMinor === price.amountMinor && open.currency === price.currency && open.country === price.country;
  const seen = new Set<string>();
  const payment = await store.begin(
    { userId, ...price, createdAt: now, dueAt: nextLook({ createdAt: now }, now) },
    (open) => {
      seen.add(open.id);
      return open.status !== 'created' || (isFresh(open) && isSame(open)) || seen.size >= MOST_OPEN;
    },
  );
  if (!payment) return { outcome: 'no account' };
  if (payment.status !== 'created') return { outcome: 'under way' };
  if (!isFresh(payment) || !isSame(payment)) return { outcome: 'too many' };
  if (payment.approvalUrl !== null) return { outcome: 'order', approvalUrl: payment.approvalUrl };
  return order(deps, payment);
}

/** The request id makes a second try the same order, also when the first one's answer or its note here was lost. */
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
    const { approvalUrl } = await store.noteOrder(payment.id, created, nextLook(payment, clock.now()));
    return { outcome: 'order', approvalUrl: approvalUrl ?? created.approvalUrl };
  } catch (error) {
    if (!(error instanceof PaypalError)) throw error;
    log.error({ paymentId: payment.id, err: error, debugId: error.debugId }, 'PayPal made no order');
    return { outcome: 'PayPal failed' };
  }
}

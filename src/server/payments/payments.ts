/** Composes everything about payments, for the functions, the webhook, the jobs and the operator's commands. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { singleFlight } from '../load/single-flight.ts';
import type { Logger } from '../log.ts';
import type { Settlement, Payment, PaymentDeps } from './payment-store.ts';
import { createPaypal } from './paypal/paypal-client.ts';
import { createPostgresPaymentStore } from './postgres-payment-store.ts';
import { findNamedPayment, processEvent, reconcilePayments } from './reconcile-payments.ts';
import { refundPayment } from './refund-payment.ts';
import { settlePayment } from './settle-payment.ts';
import type { PaypalEvent } from './webhook.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { APPROVAL_PAGE_LIFETIME_MS, nextOpenPoll } from './polling-schedule.ts';
import { PaypalError } from './paypal/paypal.ts';

export type Payments = {
  start(userId: string): Promise<Start>;
  /**
   * Captures the order if the payer has approved it, and returns the payment's status. Null if this user has no such
   * order.
   */
  finish(userId: string, orderId: string): Promise<{ settlement: Settlement; approvalUrl: string | null } | null>;
  /** Whether a webhook refers to a known payment. */
  isAboutPayment(event: PaypalEvent): Promise<boolean>;
  process(event: PaypalEvent): Promise<void>;
  reconcile(signal: AbortSignal): Promise<{ events: number; payments: number }>;
  /** False when there is nothing to refund. */
  refund(id: string): Promise<boolean>;
  readonly paypal: ReturnType<typeof createPaypal>;
};

type Deps = {
  config: Config;
  database: Database;
  clock: Clock;
  log: Logger;
  /** Triggers the job `send-receipts`. */
  requestMails: () => void;
};

/** Limit how long a buyer waits for another worker that is capturing the same order. */
const MAX_TRIES = 30;
const PAUSE_MS = 500;
/** Right after the approval PayPal may still report the order as not approved, so `finish` tries again. */
const MAX_UNAPPROVED_TRIES = 3;

/** Null when PayPal is not configured. */
export function createPayments({ config, database, clock, log, requestMails }: Deps): Payments | null {
  if (config.paypal === null) return null;
  const paypal = createPaypal({ config: config.paypal, clock, log });
  const store = createPostgresPaymentStore(database);
  const deps = { store, paypal, clock, log, config, hasWebhook: config.paypal.webhookId !== null };
  const { thenNotify, thenNotifyIfSwept } = createBuyerNotifier(requestMails);

  const startOnce = singleFlight((userId: string) => startPayment(deps, userId));
  /**
   * Threat: hundreds of requests wait for one payment, and each polls PayPal every `PAUSE_MS`. Single-flight: those of
   * this process share one run.
   */
  const settleOnce = singleFlight(settleUntilStable);

  async function settleUntilStable(id: string): Promise<Settlement> {
    for (let tried = 1; ; tried += 1) {
      const settlement = await settlePayment(deps, id);
      const isUnapproved = settlement === 'created' || settlement === 'approved';
      const mayChange = settlement === 'capturing' || (isUnapproved && tried < MAX_UNAPPROVED_TRIES);
      if (!mayChange || tried === MAX_TRIES) return settlement;
      await delay(PAUSE_MS);
    }
  }

  async function finish(userId: string, orderId: string) {
    const payment = await store.find({ orderId });
    if (payment?.userId !== userId) return null;
    const settlement = await settleOnce(payment.id);
    return { settlement, approvalUrl: payment.approvalUrl };
  }

  return {
    paypal,
    start: startOnce,
    finish: (userId, orderId) => thenNotify(finish(userId, orderId)),
    isAboutPayment: async (event) => (await findNamedPayment(store, event)) !== null,
    process: (event) => thenNotify(processEvent(deps, event)),
    reconcile: (signal) => thenNotifyIfSwept(reconcilePayments(deps, signal)),
    refund: (id) => thenNotify(refundPayment(deps, id)),
  };
}

/**
 * Makes payment operations notify buyers: an operation that may have changed a payment triggers the job
 * `send-receipts`, so that the buyer gets the mail within seconds.
 *
 * @param requestMails triggers the job, which also runs every five minutes; a run is cheap when no mail is due
 */
function createBuyerNotifier(requestMails: () => void) {
  return {
    /** Requests the mails also after a failure: an operation may have booked money before it failed. */
    thenNotify: <T>(work: Promise<T>): Promise<T> => work.finally(requestMails),
    async thenNotifyIfSwept(work: Promise<{ events: number; payments: number }>) {
      const swept = await work;
      if (swept.events + swept.payments > 0) requestMails();
      return swept;
    },
  };
}

// Starts a payment: inserts the row, then creates the PayPal order with the row's id in request, custom and invoice id.

export type StartDeps = PaymentDeps & { config: { publicUrl: string; paymentBlockedCountries: readonly string[] } };

type Start =
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

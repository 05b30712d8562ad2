/** Composes everything about payments, for the functions, the webhook, the jobs and the operator's commands. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { singleFlight } from '../load/single-flight.ts';
import type { Logger } from '../log.ts';
import type { Settlement } from './payment-store.ts';
import { createPaypal } from './paypal/paypal-client.ts';
import { createPostgresPaymentStore } from './postgres-payment-store.ts';
import { findNamedPayment, processEvent, reconcilePayments } from './reconcile-payments.ts';
import { refundPayment } from './refund-payment.ts';
import { settlePayment } from './settle-payment.ts';
import { startPayment, type Start } from './start-payment.ts';
import type { PaypalEvent } from './webhook-event.ts';

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

/** Limits how long a buyer waits for another worker that is capturing the same order: 30 tries, 500 ms apart. */
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

  /**
   * Threat: hundreds of browsers ask for one payment at once, and each request would poll the payment twice a second.
   * Single-flight lets all of them share one run.
   */
  const startOnce = singleFlight((userId: string) => startPayment(deps, userId));
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
 * Makes payment operations notify buyers: each operation triggers the job `send-receipts`, so that the buyer gets the
 * mail within seconds.
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

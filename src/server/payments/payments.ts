/** Everything about money, put together: what the functions, the webhook, the jobs and the operator's commands call. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { createPaypal } from './paypal/paypal-client.ts';
import { createPostgresPaymentStore } from './postgres-payment-store.ts';
import { findNamedPayment, followEvent, reconcilePayments } from './reconcile-payments.ts';
import { refundPayment } from './refund-payment.ts';
import { settlePayment } from './settle-payment.ts';
import type { Settlement } from './settle-payment.ts';
import { startPayment } from './start-payment.ts';
import type { Start } from './start-payment.ts';
import type { PaypalEvent } from './webhook-event.ts';

export type Payments = {
  start(userId: string): Promise<Start>;
  /** Null when this user has no such order. */
  finish(userId: string, orderId: string): Promise<{ settlement: Settlement; approvalUrl: string | null } | null>;
  /** Whether a webhook names a payment of ours. */
  isAboutPayment(event: PaypalEvent): Promise<boolean>;
  follow(event: PaypalEvent): Promise<void>;
  reconcile(signal: AbortSignal): Promise<{ events: number; payments: number }>;
  /** False when there is nothing to give back. */
  refund(id: string): Promise<boolean>;
  readonly paypal: ReturnType<typeof createPaypal>;
};

type Parts = { config: Config; database: Database; clock: Clock; log: Logger };

/** How often, and how far apart, a buyer who waits is looked after: somebody else may be taking the same money. */
const TRIES = 30;
const PAUSE_MS = 500;
/** Right after the approval PayPal may not know of it yet. */
const UNAPPROVED_TRIES = 3;

/** Null when PayPal is not set up. */
export function createPayments({ config, database, clock, log }: Parts): Payments | null {
  if (config.paypal === null) return null;
  const paypal = createPaypal({ config: config.paypal, clock, log });
  const store = createPostgresPaymentStore(database);
  const deps = { store, paypal, clock, log, config, hasWebhook: config.paypal.webhookId !== null };

  /** Threat: hundreds of browsers that ask for one payment at once, each looking at it twice a second. */
  const starting = createShared<Start>();
  const finishing = createShared<Settlement>();

  async function settleForBuyer(id: string): Promise<Settlement> {
    for (let tried = 1; ; tried += 1) {
      const settlement = await settlePayment(deps, id);
      const mayChange = settlement === 'busy' || (settlement === 'unapproved' && tried < UNAPPROVED_TRIES);
      if (!mayChange || tried === TRIES) return settlement;
      await delay(PAUSE_MS);
    }
  }

  return {
    paypal,
    start: (userId) => starting(userId, () => startPayment(deps, userId)),
    async finish(userId, orderId) {
      const payment = await store.find({ orderId });
      if (payment?.userId !== userId) return null;
      const settlement = await finishing(payment.id, () => settleForBuyer(payment.id));
      return { settlement, approvalUrl: payment.approvalUrl };
    },
    isAboutPayment: async (event) => (await findNamedPayment(store, event)) !== null,
    follow: (event) => followEvent(deps, event),
    reconcile: (signal) => reconcilePayments(deps, signal),
    refund: (id) => refundPayment(deps, id),
  };
}

/** Whoever asks for what is under way gets its answer. */
function createShared<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key, work) => {
    const running = underWay.get(key);
    if (running) return running;
    const begun = work().finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  };
}

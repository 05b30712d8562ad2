/** The dependencies of the functions that start, settle and refund payments, and the result of a settlement. */
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { PaymentStore } from './payment-store.ts';
import type { Paypal } from './paypal/paypal.ts';

export type PaymentDeps = {
  store: PaymentStore;
  paypal: Paypal;
  clock: Clock;
  log: Logger;
  /** Whether PayPal reports returned money by webhook; if not, PayPal is polled more often. */
  hasWebhook: boolean;
};

/** The stored status after a settlement, or a result that the stored status does not tell. */
export type Settlement =
  | PaymentStatus
  /** The payer must approve the order again or choose another card. The stored status is `created` again. */
  | 'instrument_declined'
  /** PayPal did not answer, or its error decides nothing about the payment. The job `reconcile-payments` tries again. */
  | 'unknown';

/**
 * The storage that the payment state machine needs. `postgres-payment-store.ts` implements it in the database,
 * `tests/payments/memory-payment-store.ts` in memory. Every method makes its changes in one atomic step and never waits
 * for PayPal. The process may die between any two calls.
 */
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanColumns } from '#domain/plan/plan.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Capture, CreatedOrder, Paypal } from './paypal/paypal.ts';

export type Payment = {
  readonly id: string;
  readonly userId: string;
  readonly orderId: string | null;
  readonly captureId: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly country: string | null;
  readonly status: PaymentStatus;
  readonly leaseUntil: Date | null;
  readonly dueAt: Date | null;
  /** How many captures PayPal has rejected for good: the next capture needs a new request id. */
  readonly refusedCaptures: number;
  readonly refundRequestedAt: Date | null;
  readonly approvalUrl: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
};

export type Buyer = PlanColumns & { country: string | null };

type NewPayment = Pick<Payment, 'userId' | 'amountMinor' | 'currency' | 'country' | 'dueAt' | 'createdAt'>;

/** Statuses of an open payment: no captured money is booked, and the payment is not closed. */
export const OPEN_STATUSES = ['created', 'approved', 'capturing', 'pending'] as const satisfies PaymentStatus[];
export const isOpen = (status: PaymentStatus): boolean => (OPEN_STATUSES as readonly PaymentStatus[]).includes(status);
/**
 * Captured money is booked once, and not while a person reviews the payment. Money captured on a payment that we had
 * closed is booked too, because PayPal took it from the payer.
 */
const NOT_BOOKABLE: readonly PaymentStatus[] = ['completed', 'refunded', 'reversed', 'needs_review'];
export const canBookCapture = (status: PaymentStatus): boolean => !NOT_BOOKABLE.includes(status);

export type MoneyReturn = {
  kind: 'refund' | 'reversal';
  /** A single refund or reversal that PayPal has named. */
  part: { ref: string; amountMinor: number } | null;
  /**
   * The sum in cents of all money returned so far. Null when PayPal does not report the sum. `part` is booked unless
   * more than this sum, or than the payment's amount if it is null, would then be booked. If the booked parts do not
   * add up to the sum, a further entry books the rest.
   */
  total: number | null;
  now: Date;
  /** The next poll unless all the money is returned. A payment with a requested refund keeps its own schedule. */
  dueAt: Date | null;
  /** The next poll after a full return: it finds a refund that failed later. Null: no poll. */
  dueAtFullReturn: Date | null;
};

export type PaymentEvent = { readonly id: string; readonly raw: string; readonly receivedAt: Date };

export type PaymentStore = {
  /** Null when the account does not exist. */
  buyer(userId: string): Promise<Buyer | null>;
  /** Whether the user has asked to delete the account and can still undo it. */
  isLeaving(userId: string): Promise<boolean>;
  /**
   * The user's open payment that `canReuse` accepts, or a new one. Calls for one user are serialized, so two clicks
   * make one payment. Null when the account does not exist.
   */
  begin(payment: NewPayment, canReuse: (open: Payment) => boolean): Promise<Payment | null>;
  find(by: { id: string } | { orderId: string } | { captureId: string }): Promise<Payment | null>;
  /** Stores the order unless one is stored already. Returns the payment as stored. */
  saveOrder(id: string, order: CreatedOrder, dueAt: Date): Promise<Payment>;

  /**
   * Takes a lease on the payment if its status is still the one that was read and no lease is running. Returns the
   * payment as `capturing`, or null without a lease.
   */
  claim(read: Payment, now: Date, leaseUntil: Date): Promise<Payment | null>;
  /** Ends the lease. No-op if the lease was lost. */
  release(claimed: Payment, to: Release): Promise<void>;
  /**
   * Closes an open payment without money, or sets it aside for review. With `claimed`, the call is a no-op if that
   * lease was lost: the lease expired, and another worker has claimed or changed the payment since.
   */
  close(
    id: string,
    status: 'declined' | 'voided' | 'expired' | 'needs_review',
    how: { captureId?: string; dueAt?: Date; claimed?: Payment },
  ): Promise<void>;
  /** Marks an open payment as `pending`: PayPal holds the money and decides later. */
  markPending(id: string, captureId: string, dueAt: Date): Promise<void>;
  /**
   * Sets the next poll and ends any lease. No-op while the payment is `capturing`. Null: no poll until an event
   * arrives.
   */
  schedulePoll(id: string, dueAt: Date | null): Promise<void>;

  /**
   * Books captured money, grants the year and completes the payment. Idempotent. If the account is gone, books the
   * money and requests its refund. The payment is due at once if the money must go back, or if all or some of it has
   * gone back already. Otherwise it is due at `dueAt`.
   */
  complete(
    id: string,
    capture: Capture,
    now: Date,
    dueAt: Date | null,
  ): Promise<'granted' | 'no_account' | 'already_booked'>;
  /** Books captured money that does not match the payment, for review by a person. No plan changes. */
  bookForReview(id: string, capture: Capture): Promise<void>;
  /** Books returned money, never more than was captured, and ends the year when all of it is returned. */
  bookReturn(id: string, back: MoneyReturn): Promise<void>;
  /**
   * Records that a completed payment is to be refunded and makes it due, so that the job `reconcile-payments` resumes
   * the refund after a crash. False if the payment is not completed.
   */
  requestRefund(id: string, now: Date): Promise<boolean>;
  /** Takes a lease on a requested refund. Null if no refund is requested or another lease is running. */
  claimRefund(id: string, now: Date, leaseUntil: Date): Promise<Payment | null>;
  /** Withdraws the request for a refund that PayPal rejected for good, and sets the next poll. */
  cancelRefund(id: string, dueAt: Date | null): Promise<void>;

  /** The ids of payments that are due, the longest overdue first. */
  due(now: Date, limit: number): Promise<string[]>;
  unprocessedEvents(limit: number): Promise<PaymentEvent[]>;
  /**
   * Marks the event as processed. If the account of `userId` is gone, also purges the payload of the event, because it
   * names the payer.
   */
  markEventProcessed(id: string, now: Date, userId: string | null): Promise<void>;
};

type Release = {
  status: 'created' | 'approved' | 'capturing';
  dueAt: Date;
  /** PayPal rejected one more capture for good. */
  refused?: boolean;
};

// The dependencies of the functions that start, settle and refund payments, and the result of a settlement.

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

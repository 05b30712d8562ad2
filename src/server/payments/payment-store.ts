/**
 * The storage that the payment state machine needs. `postgres-payment-store.ts` implements it in the database, the model
 * test in memory. Every method is one atomic transaction and never waits for PayPal. The process may die between any two
 * calls.
 */
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanColumns } from '#domain/plan/plan.ts';
import type { Capture, CreatedOrder } from './paypal/paypal.ts';

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
  /** How many captures PayPal has rejected for good: the next one needs a new request id. */
  readonly refusedCaptures: number;
  readonly refundRequestedAt: Date | null;
  readonly approvalUrl: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
};

export type Buyer = PlanColumns & { country: string | null };

export type NewPayment = Pick<Payment, 'userId' | 'amountMinor' | 'currency' | 'country' | 'dueAt' | 'createdAt'>;

/** Statuses from which our own capture can still complete a payment. */
export const OPEN_STATUSES = ['created', 'approved', 'capturing', 'pending'] as const satisfies PaymentStatus[];
export const isOpen = (status: PaymentStatus): boolean => (OPEN_STATUSES as readonly PaymentStatus[]).includes(status);
/**
 * Captured money is booked once, and not while a person reviews the payment. It is booked also on a payment that we had
 * closed, because the money was taken.
 */
const NOT_BOOKABLE: readonly PaymentStatus[] = ['completed', 'refunded', 'reversed', 'needs_review'];
export const canBookCapture = (status: PaymentStatus): boolean => !NOT_BOOKABLE.includes(status);

export type MoneyReturn = {
  kind: 'refund' | 'reversal';
  /** A single refund or reversal that PayPal has named. */
  part: { ref: string; amountMinor: number } | null;
  /**
   * The sum of all returned money, if PayPal reports it: an upper limit, and what no named part explains is booked as
   * well. When all the money is returned, the paid year ends.
   */
  total: number | null;
  now: Date;
  /** The next poll after a partial return. A requested refund has a schedule of its own and keeps it. */
  dueAt: Date | null;
  /** The next poll after a full return, for a refund that fails later. */
  dueAtFullReturn: Date | null;
};

export type PaymentEvent = { readonly id: string; readonly raw: string; readonly receivedAt: Date };

export type PaymentStore = {
  /** Null when the account does not exist. */
  buyer(userId: string): Promise<Buyer | null>;
  /**
   * The user's open payment that `canReuse` accepts, or a new one. Calls for one user are serialized, so two clicks
   * make one payment. Null when the account does not exist.
   */
  begin(payment: NewPayment, canReuse: (open: Payment) => boolean): Promise<Payment | null>;
  find(by: { id: string } | { orderId: string } | { captureId: string }): Promise<Payment | null>;
  /** Stores the order unless one is stored already. Returns the payment as stored. */
  saveOrder(id: string, order: CreatedOrder, dueAt: Date): Promise<Payment>;

  /**
   * Takes a lease on the payment if its status is still the one that was read and no lease is running. Returns it as
   * `capturing`, or null.
   */
  claim(read: Payment, now: Date, leaseUntil: Date): Promise<Payment | null>;
  /** Ends the lease. No-op if the lease was lost. */
  release(claimed: Payment, to: Release): Promise<void>;
  /**
   * Closes an open payment without money, or sets it aside for review. With `claimed` it is a no-op if that lease was
   * lost: a response is ignored once its lease has expired.
   */
  close(
    id: string,
    status: 'declined' | 'voided' | 'expired' | 'needs_review',
    how: { captureId?: string; dueAt?: Date; claimed?: Payment },
  ): Promise<void>;
  /** PayPal holds the money and decides later. */
  markPending(id: string, captureId: string, dueAt: Date): Promise<void>;
  /** Sets the next poll of a payment that is not `capturing`. Null: no poll until an event arrives. */
  schedulePoll(id: string, dueAt: Date | null): Promise<void>;

  /**
   * Books captured money, grants the year and completes the payment. Idempotent. If the account is gone, books the money
   * and requests its refund. The payment is due at once if the money must go back or is partly back already, otherwise
   * at `dueAt`.
   */
  complete(
    id: string,
    capture: Capture,
    now: Date,
    dueAt: Date | null,
  ): Promise<'granted' | 'no_account' | 'already_booked'>;
  /** Books captured money that does not match the order, for review by a person. No plan changes. */
  bookForReview(id: string, capture: Capture): Promise<void>;
  /** Books returned money, never more than was captured, and ends the year when all of it is returned. */
  bookReturn(id: string, back: MoneyReturn): Promise<void>;
  /** Requests the refund of a completed payment, so that the sweep continues if this process dies. False: not completed. */
  requestRefund(id: string, now: Date): Promise<boolean>;
  /** Takes a lease on a requested refund. Null if another lease is running. */
  claimRefund(id: string, now: Date, leaseUntil: Date): Promise<Payment | null>;
  /** PayPal rejected the refund for good. */
  cancelRefund(id: string, dueAt: Date | null): Promise<void>;

  /** The ids of payments that are due, the longest overdue first. */
  due(now: Date, limit: number): Promise<string[]>;
  unprocessedEvents(limit: number): Promise<PaymentEvent[]>;
  markEventProcessed(id: string, now: Date): Promise<void>;
};

export type Release = {
  status: 'created' | 'approved' | 'capturing';
  dueAt: Date;
  /** PayPal rejected one more capture for good. */
  refused?: boolean;
};

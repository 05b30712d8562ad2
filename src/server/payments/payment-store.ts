/**
 * What the state machine of payments keeps, as an interface: `postgres-payment-store.ts` keeps it in the database, and
 * the model test in memory. Every method is one transaction and takes effect as a whole or not at all, and none of
 * them waits for PayPal: between two of them the process may die.
 */
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanFacts } from '#domain/plan/plan.ts';
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
  /** How often PayPal has refused the capture for good: the next try is a request of its own. */
  readonly refusedCaptures: number;
  readonly refundRequestedAt: Date | null;
  readonly approvalUrl: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
};

export type Buyer = PlanFacts & { country: string | null };

export type NewPayment = Pick<Payment, 'userId' | 'amountMinor' | 'currency' | 'country' | 'dueAt' | 'createdAt'>;

/** Statuses out of which a payment can still become paid by our own doing. */
export const OPEN = ['created', 'approved', 'capturing', 'pending'] as const satisfies PaymentStatus[];
export const isOpen = (status: PaymentStatus): boolean => (OPEN as readonly PaymentStatus[]).includes(status);
/**
 * Whether captured money can still be booked: not twice, and not behind the back of a person who looks at it. It can be
 * booked on a payment that we gave up, because money that was taken is taken.
 */
const CLOSED_FOR_MONEY: readonly PaymentStatus[] = ['completed', 'refunded', 'reversed', 'needs_review'];
export const isOpenForMoney = (status: PaymentStatus): boolean => !CLOSED_FOR_MONEY.includes(status);

export type MoneyBack = {
  kind: 'refund' | 'reversal';
  /** One that PayPal has named. */
  part: { ref: string; amountMinor: number } | null;
  /**
   * How much has gone back in all, where PayPal says so: never more is booked, and what no part has named is booked as
   * well. When it is everything, the year ends.
   */
  total: number | null;
  now: Date;
  /** When to look again while not everything went back; nobody looks while a refund is requested, which has its own. */
  dueAt: Date | null;
  /** When to look whether everything stayed away. */
  dueAtEnd: Date | null;
};

export type PaymentEvent = { readonly id: string; readonly raw: string; readonly receivedAt: Date };

export type PaymentStore = {
  /** Null when there is no such account. */
  buyer(userId: string): Promise<Buyer | null>;
  /**
   * The user's open payment for which `mayGoOn` says yes, or a new one. Two calls for one user run one after the other,
   * so two clicks make one payment. Null when there is no such account.
   */
  begin(payment: NewPayment, mayGoOn: (open: Payment) => boolean): Promise<Payment | null>;
  find(by: { id: string } | { orderId: string } | { captureId: string }): Promise<Payment | null>;
  /** Answers the payment as it is then; the first order stays. */
  noteOrder(id: string, order: CreatedOrder, dueAt: Date): Promise<Payment>;

  /**
   * Takes the payment for oneself: only while it has the status that was read and no lease is running. Answers it as
   * `capturing`, or null.
   */
  claim(read: Payment, now: Date, leaseUntil: Date): Promise<Payment | null>;
  /** Gives back what was claimed; does nothing when somebody else has claimed it since. */
  release(claimed: Payment, to: Release): Promise<void>;
  /**
   * Ends an open payment without money, or puts it aside for a person to look at. Whoever has claimed it ends it only
   * while nobody else has: what PayPal said to one who was held up for long is no news any more.
   */
  end(
    id: string,
    status: 'declined' | 'voided' | 'expired' | 'needs_review',
    how: { captureId?: string; dueAt?: Date; claimed?: Payment },
  ): Promise<void>;
  /** PayPal holds the money back. */
  hold(id: string, captureId: string, dueAt: Date): Promise<void>;
  /** When to look again at a payment that nobody has claimed; null: never, until an event says so. */
  lookAgain(id: string, dueAt: Date | null): Promise<void>;

  /**
   * Books captured money, grants the year and completes the payment. Once: a second call changes nothing. Where the
   * account is gone the money is booked and its refund requested. It is due at once where money cannot stay or has gone
   * back already, otherwise at `dueAt`.
   */
  complete(
    id: string,
    capture: Capture,
    now: Date,
    dueAt: Date | null,
  ): Promise<'granted' | 'without account' | 'nothing'>;
  /** Books captured money that does not fit what was ordered, for a person to look at. No plan changes. */
  review(id: string, capture: Capture): Promise<void>;
  /** Books money that went back, never more than came, and ends the year when all of it did. */
  bookBack(id: string, back: MoneyBack): Promise<void>;
  /** Marks a completed payment for refund, so that the sweep goes on when this process does not. False: not completed. */
  requestRefund(id: string, now: Date): Promise<boolean>;
  /** Takes a requested refund for oneself: null when somebody is at it. */
  claimRefund(id: string, now: Date, leaseUntil: Date): Promise<Payment | null>;
  /** PayPal refuses it for good. */
  dropRefund(id: string, dueAt: Date | null): Promise<void>;

  /** The ids of those whose time has come, the longest waiting first. */
  due(now: Date, limit: number): Promise<string[]>;
  waitingEvents(limit: number): Promise<PaymentEvent[]>;
  eventDone(id: string, now: Date): Promise<void>;
};

export type Release = {
  status: 'created' | 'approved' | 'capturing';
  dueAt: Date;
  /** One more capture was refused for good. */
  refused?: boolean;
};

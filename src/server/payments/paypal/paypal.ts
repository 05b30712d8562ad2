/**
 * The interface to PayPal that all payment code uses, and its only kind of error. `paypal-client.ts` implements it over
 * HTTP.
 */

/** PayPal adds statuses without notice. An unknown one becomes `UNKNOWN`, which alone never means paid. */
export const ORDER_STATUSES = [
  'CREATED',
  'SAVED',
  'APPROVED',
  'VOIDED',
  'COMPLETED',
  'PAYER_ACTION_REQUIRED',
  'UNKNOWN',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const CAPTURE_STATUSES = [
  'COMPLETED',
  'DECLINED',
  'PARTIALLY_REFUNDED',
  'PENDING',
  'REFUNDED',
  'FAILED',
  'UNKNOWN',
] as const;
export type CaptureStatus = (typeof CAPTURE_STATUSES)[number];

export const REFUND_STATUSES = ['CANCELLED', 'FAILED', 'PENDING', 'COMPLETED', 'UNKNOWN'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** One attempt to take an order's money. A `COMPLETED` order does not mean paid: the status of its capture decides. */
export type Capture = {
  readonly id: string;
  readonly status: CaptureStatus;
  /** PayPal's reason for the status, for example `ECHECK` or `CHARGEBACK`. */
  readonly reason: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  /** PayPal's fee. Null until PayPal reports it in the capture's currency. */
  readonly feeMinor: number | null;
  /** Our payment's id, sent with the order. */
  readonly customId: string | null;
  readonly orderId: string | null;
  /** The refunded amount. Null when the refund is partial and this response does not state its amount. */
  readonly refundedMinor: number | null;
};

export type Order = {
  readonly id: string;
  readonly status: OrderStatus;
  readonly customId: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly capture: Capture | null;
};

export type CreatedOrder = {
  readonly orderId: string;
  /** Where to redirect the browser. Validated by `isSafeRedirect` in `paypal-client.ts`. */
  readonly approvalUrl: string;
  /** PayPal's id of this response, which its support asks for. */
  readonly debugId: string | null;
};

export type Refund = {
  readonly id: string;
  readonly status: RefundStatus;
  readonly amountMinor: number;
  readonly currency: string;
};

/** Methods reject only with a PaypalError. Amounts are whole cents. */
export type Paypal = {
  /** Idempotent by `paymentId` for six hours. */
  createOrder(order: {
    paymentId: string;
    amountMinor: number;
    currency: string;
    returnUrl: string;
    cancelUrl: string;
  }): Promise<CreatedOrder>;
  getOrder(orderId: string): Promise<Order>;
  /** Idempotent by `requestId`. */
  captureOrder(capture: { orderId: string; requestId: string }): Promise<Order>;
  getCapture(captureId: string): Promise<Capture>;
  /** Refunds the remaining amount. */
  refundCapture(refund: { captureId: string; requestId: string; note?: string }): Promise<Refund>;
  getRefund(refundId: string): Promise<Refund>;
};

export type PaypalFailure = {
  /** HTTP status. 0 without a response. */
  readonly status: number;
  /** PayPal's error name, for example `UNPROCESSABLE_ENTITY`, or a name of ours where PayPal gives no name. */
  readonly name: string;
  /** PayPal's first issue, for example `ORDER_NOT_APPROVED`. New issues appear without notice. */
  readonly issue: string | null;
  /** The same call with the same request id may work later. */
  readonly retryable: boolean;
  /** The call failed but may have taken effect: read the state before doing anything else. */
  readonly outcomeUnknown: boolean;
  readonly debugId: string | null;
  readonly retryAfterMs: number | null;
};

/** Safe to log: it carries no data of the payer. */
export class PaypalError extends Error implements PaypalFailure {
  readonly status: number;
  override readonly name: string;
  readonly issue: string | null;
  readonly retryable: boolean;
  readonly outcomeUnknown: boolean;
  readonly debugId: string | null;
  readonly retryAfterMs: number | null;

  constructor(failure: PaypalFailure, options?: ErrorOptions) {
    const what = failure.issue === null ? failure.name : `${failure.name} ${failure.issue}`;
    super(`PayPal: ${what} (${failure.status || 'no answer'})`, options);
    this.status = failure.status;
    this.name = failure.name;
    this.issue = failure.issue;
    this.retryable = failure.retryable;
    this.outcomeUnknown = failure.outcomeUnknown;
    this.debugId = failure.debugId;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

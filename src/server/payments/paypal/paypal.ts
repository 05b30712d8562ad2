/**
 * What the server asks of PayPal, in the words of this product: the interface that everything about payments is written
 * against, and the one kind of failure it knows. The client that speaks HTTP stands in paypal-client.ts.
 */

/** PayPal adds states without notice: one that is not known here becomes `UNKNOWN`, which is never taken for paid. */
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

/** Money that moved, or may still move. An order that is `COMPLETED` is not paid unless its capture is. */
export type Capture = {
  readonly id: string;
  readonly status: CaptureStatus;
  /** Why it is pending or declined, in PayPal's word, for example `ECHECK`. */
  readonly reason: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  /** What PayPal kept; null while it has not said so. */
  readonly feeMinor: number | null;
  /** Our payment's id, as it was sent with the order. */
  readonly customId: string | null;
  readonly orderId: string | null;
  /** What went back; null when a part did and PayPal does not say here how much. */
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
  /** Where the browser goes; checked, so it may be handed to one. */
  readonly approvalUrl: string;
  /** PayPal's name for this one answer, which its support asks for. */
  readonly debugId: string | null;
};

export type Refund = {
  readonly id: string;
  readonly status: RefundStatus;
  readonly amountMinor: number;
  readonly currency: string;
};

/** Every method rejects with a PaypalError and with nothing else. Amounts are whole cents. */
export type Paypal = {
  /** The same `paymentId` again gives the same order, for six hours. */
  createOrder(order: {
    paymentId: string;
    amountMinor: number;
    currency: string;
    returnUrl: string;
    cancelUrl: string;
  }): Promise<CreatedOrder>;
  getOrder(orderId: string): Promise<Order>;
  /** The same `requestId` again moves no money a second time. */
  captureOrder(capture: { orderId: string; requestId: string }): Promise<Order>;
  getCapture(captureId: string): Promise<Capture>;
  /** Gives everything back that is left. */
  refundCapture(refund: { captureId: string; requestId: string; note?: string }): Promise<Refund>;
  getRefund(refundId: string): Promise<Refund>;
};

export type PaypalFailure = {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** PayPal's name of the failure, for example `UNPROCESSABLE_ENTITY`; ours where PayPal gave none. */
  readonly name: string;
  /** The first of PayPal's issues, for example `ORDER_NOT_APPROVED`. New ones appear without notice. */
  readonly issue: string | null;
  /** The same call with the same request id may work later. */
  readonly retryable: boolean;
  /** The call may have done its work although it failed: ask before doing anything else. */
  readonly outcomeUnknown: boolean;
  readonly debugId: string | null;
  /** How long PayPal asks to be left alone. */
  readonly retryAfterMs: number | null;
};

/** Carries nothing that PayPal's answers say about a payer, so that it may be logged. */
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

/** What PayPal keeps: orders, captures, refunds and the events that tell of them. */
import type { Money } from './money.ts';

export type OrderStatus = 'CREATED' | 'PAYER_ACTION_REQUIRED' | 'APPROVED' | 'COMPLETED' | 'VOIDED';

/** How the payer paid, chosen on the approval page: it decides what capturing finds. */
export type PaymentWay =
  | 'instant'
  /** The bank refuses when the order is captured; the payer may choose another way. */
  | 'bank-declines'
  /** The order completes around a capture that took no money, as seen in the field. */
  | 'declined-capture'
  /** The money takes days, and then comes or does not. */
  | 'echeck';

/** What a client asked for, after the checks. */
export type NewOrder = {
  readonly clientId: string;
  readonly amount: Money;
  readonly referenceId: string;
  readonly customId: string | null;
  readonly invoiceId: string | null;
  readonly description: string | null;
  readonly softDescriptor: string | null;
  readonly brandName: string | null;
  readonly returnUrl: string;
  readonly cancelUrl: string;
  readonly immediatePaymentRequired: boolean;
  /** With a payment source the order waits for a `payer-action`; without one, for an `approve`. */
  readonly hasPaymentSource: boolean;
};

export type Order = NewOrder & {
  readonly id: string;
  status: OrderStatus;
  readonly createdAt: Date;
  updatedAt: Date;
  /** When the payer was first sent to the approval page. */
  redirectedAt: Date | null;
  way: PaymentWay | null;
  /** Whether a bank has refused it; the payer may try another way. */
  declined: boolean;
  payerId: string | null;
  capture: Capture | null;
};

export type CaptureStatus = 'COMPLETED' | 'PENDING' | 'DECLINED' | 'PARTIALLY_REFUNDED' | 'REFUNDED';

export type Capture = {
  readonly id: string;
  readonly order: Order;
  status: CaptureStatus;
  reason: string | null;
  readonly amount: Money;
  /** Known once the money is there. */
  feeMinor: number | null;
  refundedMinor: number;
  readonly refunds: Refund[];
  disputed: boolean;
  reversed: boolean;
  readonly createdAt: Date;
  updatedAt: Date;
};

export type RefundStatus = 'COMPLETED' | 'PENDING' | 'FAILED';

export type Refund = {
  readonly id: string;
  readonly capture: Capture;
  /** A reversal is what a bank took back: PayPal shows it as a refund that nobody asked for. */
  readonly kind: 'refund' | 'reversal';
  status: RefundStatus;
  readonly amount: Money;
  readonly note: string | null;
  readonly createdAt: Date;
  updatedAt: Date;
};

export type EventType =
  | 'CHECKOUT.ORDER.APPROVED'
  | 'CHECKOUT.PAYMENT-APPROVAL.REVERSED'
  | 'PAYMENT.CAPTURE.COMPLETED'
  | 'PAYMENT.CAPTURE.PENDING'
  | 'PAYMENT.CAPTURE.DENIED'
  | 'PAYMENT.CAPTURE.DECLINED'
  | 'PAYMENT.CAPTURE.REFUNDED'
  | 'PAYMENT.CAPTURE.REVERSED'
  | 'CUSTOMER.DISPUTE.CREATED';

export type PaypalEvent = {
  readonly id: string;
  readonly type: EventType;
  readonly at: Date;
  /** The bytes that are signed and sent, the same ones every time. */
  readonly body: string;
};

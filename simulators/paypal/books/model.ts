import type { Money } from './money.ts';

export type OrderStatus = 'CREATED' | 'PAYER_ACTION_REQUIRED' | 'APPROVED' | 'COMPLETED' | 'VOIDED';

/** The payer's choice on the approval page, which determines the result of the capture. */
export type PaymentWay =
  | 'instant'
  /** The capture fails with INSTRUMENT_DECLINED. The payer can choose another way. */
  | 'bank-declines'
  /** The order completes with a declined capture, as observed in production. */
  | 'declined-capture'
  /** The capture stays pending for days, then completes or is denied. */
  | 'echeck';

/** A validated request for an order. */
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
  /** Determines the link to the approval page: `payer-action` with a payment source, `approve` without one. */
  readonly hasPaymentSource: boolean;
};

export type Order = NewOrder & {
  readonly id: string;
  status: OrderStatus;
  readonly createdAt: Date;
  updatedAt: Date;
  /** When the payer first opened the approval page. */
  redirectedAt: Date | null;
  way: PaymentWay | null;
  /** Whether a bank has declined a payment of the order. The payer can choose another way to pay. */
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
  /** null while the capture is pending, and for a declined capture. */
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
  /** `reversal`: a chargeback, which PayPal represents as a refund. */
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
  /** The signed JSON, identical for every delivery. */
  readonly body: string;
};

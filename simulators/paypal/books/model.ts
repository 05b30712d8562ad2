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

export type Money = { readonly currency: string; readonly minor: number };

/** PayPal's representation of an amount. */
export type MoneyBody = { currency_code: string; value: string };

/** PayPal's currencies with their number of decimals. */
const DECIMALS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'AUD BRL CAD CNY CZK DKK EUR HKD ILS MYR MXN NZD NOK PHP PLN GBP SGD SEK CHF THB USD'
      .split(' ')
      .map((currency) => [currency, 2]),
  ),
  HUF: 0,
  JPY: 0,
  TWD: 0,
};

export const isKnownCurrency = (currency: string): boolean => Object.hasOwn(DECIMALS, currency);

export const decimalsOf = (currency: string): number => DECIMALS[currency] ?? 2;

/** @param value a decimal number with at most the currency's number of decimals */
export const toMinor = (currency: string, value: string): number =>
  Math.round(Number(value) * 10 ** decimalsOf(currency));

export const moneyBody = ({ currency, minor }: Money): MoneyBody => ({
  currency_code: currency,
  value: (minor / 10 ** decimalsOf(currency)).toFixed(decimalsOf(currency)),
});

/** PayPal's fee for a payment within the United States: 3.49 % plus 49 cents, at most the payment itself. */
export const calculateFee = ({ currency, minor }: Money): number =>
  Math.min(minor, Math.round((minor * 349) / 10_000) + Math.round(0.49 * 10 ** decimalsOf(currency)));

const CAPITALS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Generates ids in PayPal's formats from a seed, so that a failing run can be reproduced. */
export class Ids {
  #state: number;
  #counter = 0;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** For orders, captures and refunds: 17 capitals and digits. The last four are a counter, so ids are unique. */
  resource(): string {
    this.#counter += 1;
    return this.#characters(13) + this.#counter.toString(36).toUpperCase().padStart(4, '0');
  }

  payer = (): string => this.#characters(13);

  event = (): string => `WH-${this.resource()}-${this.resource()}`;

  dispute = (): string => `PP-D-${10_000 + (this.#next() % 90_000)}`;

  /** For the `paypal-debug-id` header. */
  debug = (): string =>
    `f${this.#next().toString(16).padStart(8, '0')}${(++this.#counter).toString(16).padStart(4, '0')}`;

  token = (): string => `A21AA${this.#characters(40)}${(++this.#counter).toString(36)}`;

  /** A UUID for a webhook transmission. */
  transmission(): string {
    const hex = [1, 2, 3, 4].map(() => this.#next().toString(16).padStart(8, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-11f0-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #characters(count: number): string {
    let characters = '';
    for (let index = 0; index < count; index += 1) characters += CAPITALS_AND_DIGITS[this.#next() % 36];
    return characters;
  }

  /** Returns the next 32 bits of a seeded random number generator (mulberry32). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

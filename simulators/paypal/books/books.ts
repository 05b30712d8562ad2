/**
 * PayPal's books as a state machine (providers.md 1.6): no network, no timers, only the clock that is handed in. What time
 * does, such as an approval that nobody captured, is done whenever somebody looks.
 */
import type { Ids } from './ids.ts';
import { Refused } from './issues.ts';
import type { Capture, EventType, NewOrder, Order, PaymentWay, PaypalEvent, Refund } from './model.ts';
import { feeOf } from './money.ts';
import type { Money } from './money.ts';
import * as write from './representations.ts';
import type { Addresses } from './representations.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** From creating an order to sending the payer to it, and from there to capturing it. */
const ORDER_WINDOW_MS = 3 * HOUR_MS;
const REFUND_WINDOW_MS = 180 * DAY_MS;

/** What the seller has, in the smallest unit of one currency. */
export type Balance = { captured: number; fees: number; refunded: number; reversed: number; balance: number };

type Parts = {
  now: () => Date;
  ids: Ids;
  addresses: () => Addresses;
  /** Told of every event as it happens. */
  onEvent: (event: PaypalEvent) => void;
};

export class PaypalBooks {
  readonly orders = new Map<string, Order>();
  readonly captures = new Map<string, Capture>();
  readonly refunds = new Map<string, Refund>();
  /** Every event since the start, oldest first. */
  readonly events: PaypalEvent[] = [];
  /** What the next refunds become. */
  nextRefund: 'COMPLETED' | 'PENDING' = 'COMPLETED';
  readonly #parts: Parts;
  /** Orders that time can still change. */
  readonly #open = new Set<Order>();
  readonly #usedInvoices = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  create(asked: NewOrder): Order {
    const now = this.#parts.now();
    const order: Order = {
      ...asked,
      id: this.#parts.ids.resource(),
      status: asked.hasPaymentSource ? 'PAYER_ACTION_REQUIRED' : 'CREATED',
      createdAt: now,
      updatedAt: now,
      redirectedAt: null,
      way: null,
      declined: false,
      payerId: null,
      capture: null,
    };
    this.orders.set(order.id, order);
    this.#open.add(order);
    return order;
  }

  /** @param clientId null: whoever asks, as the payer does */
  order(id: string, clientId: string | null = null): Order {
    this.passTime();
    const order = this.orders.get(id);
    if (!order || (clientId !== null && order.clientId !== clientId)) throw unknown(id);
    if (this.isExpired(order)) throw unknown(id);
    return order;
  }

  capture(id: string, clientId: string | null = null): Capture {
    const capture = this.captures.get(id);
    if (!capture || (clientId !== null && capture.order.clientId !== clientId)) throw unknown(id);
    return capture;
  }

  refund(id: string, clientId: string | null = null): Refund {
    const refund = this.refunds.get(id);
    if (!refund || (clientId !== null && refund.capture.order.clientId !== clientId)) throw unknown(id);
    return refund;
  }

  /** Nobody can pay it any more, or approve it. */
  isExpired(order: Order): boolean {
    return order.status !== 'COMPLETED' && order.status !== 'VOIDED' && !this.#open.has(order);
  }

  /** The payer arrives at the approval page: the second window begins. */
  redirect(id: string): Order {
    const order = this.order(id);
    order.redirectedAt ??= this.#parts.now();
    return order;
  }

  approve(id: string, way: PaymentWay = 'instant'): Order {
    const order = this.redirect(id);
    if (order.status === 'COMPLETED') throw new Refused({ issue: 'ORDER_ALREADY_CAPTURED' });
    if (order.status === 'VOIDED') throw unknown(id);
    order.status = 'APPROVED';
    order.way = way;
    order.payerId ??= this.#parts.ids.payer();
    order.updatedAt = this.#parts.now();
    this.#emit('CHECKOUT.ORDER.APPROVED', write.orderBody(order, this.#parts.addresses()));
    return order;
  }

  /** Takes the money of an approved order, or finds out that there is none. */
  captureOrder(id: string, clientId: string): Order {
    const order = this.order(id, clientId);
    if (order.status === 'VOIDED') throw unknown(id);
    if (order.status === 'COMPLETED') throw new Refused({ issue: 'ORDER_ALREADY_CAPTURED' });
    if (order.status !== 'APPROVED') throw new Refused({ issue: 'ORDER_NOT_APPROVED' });
    if (order.way === 'bank-declines') {
      order.status = 'PAYER_ACTION_REQUIRED';
      order.way = null;
      order.declined = true;
      order.updatedAt = this.#parts.now();
      throw new Refused({ issue: 'INSTRUMENT_DECLINED' }, write.approvalUrl(order, this.#parts.addresses()));
    }
    const invoice = order.invoiceId === null ? null : `${clientId} ${order.invoiceId}`;
    if (invoice !== null && this.#usedInvoices.has(invoice)) throw new Refused({ issue: 'DUPLICATE_INVOICE_ID' });

    const capture = this.#newCapture(order);
    if (invoice !== null && capture.status !== 'DECLINED') this.#usedInvoices.add(invoice);
    order.capture = capture;
    order.status = 'COMPLETED';
    order.updatedAt = capture.createdAt;
    this.#open.delete(order);
    this.captures.set(capture.id, capture);
    this.#emitCapture(capture, `PAYMENT.CAPTURE.${capture.status as 'COMPLETED' | 'PENDING' | 'DECLINED'}`);
    return order;
  }

  #newCapture(order: Order): Capture {
    const now = this.#parts.now();
    const capture: Capture = {
      id: this.#parts.ids.resource(),
      order,
      status: 'COMPLETED',
      reason: null,
      amount: order.amount,
      feeMinor: null,
      refundedMinor: 0,
      refunds: [],
      disputed: false,
      reversed: false,
      createdAt: now,
      updatedAt: now,
    };
    if (order.way === 'echeck') {
      capture.status = 'PENDING';
      // Where the client insisted on immediate payment there are no eChecks, but PayPal may still want to have a look.
      capture.reason = order.immediatePaymentRequired ? 'PENDING_REVIEW' : 'ECHECK';
    } else if (order.way === 'declined-capture') {
      capture.status = 'DECLINED';
    } else {
      capture.feeMinor = feeOf(capture.amount);
    }
    return capture;
  }

  /** The money of a pending capture arrives. */
  completeCapture(id: string): Capture {
    const capture = this.#pending(id);
    capture.status = 'COMPLETED';
    capture.reason = null;
    capture.feeMinor = feeOf(capture.amount);
    this.#emitCapture(capture, 'PAYMENT.CAPTURE.COMPLETED');
    return capture;
  }

  /** It never does. */
  denyCapture(id: string): Capture {
    const capture = this.#pending(id);
    capture.status = 'DECLINED';
    capture.reason = null;
    if (capture.order.invoiceId !== null)
      this.#usedInvoices.delete(`${capture.order.clientId} ${capture.order.invoiceId}`);
    this.#emitCapture(capture, 'PAYMENT.CAPTURE.DENIED');
    return capture;
  }

  #pending(id: string): Capture {
    const capture = this.capture(id);
    if (capture.status !== 'PENDING') throw new Refused({ issue: 'CAPTURE_STATUS_NOT_VALID' });
    capture.updatedAt = this.#parts.now();
    return capture;
  }

  /** @param amount null: all that is left */
  refundCapture(
    id: string,
    {
      clientId = null,
      amount = null,
      note = null,
    }: { clientId?: string | null; amount?: Money | null; note?: string | null } = {},
  ): Refund {
    const capture = this.capture(id, clientId);
    const left = capture.amount.minor - capture.refundedMinor;
    if (capture.status === 'PENDING') throw new Refused({ issue: 'PENDING_CAPTURE' });
    if (capture.status === 'DECLINED') throw new Refused({ issue: 'REFUND_NOT_ALLOWED' });
    if (capture.reversed) throw new Refused({ issue: 'REFUND_NOT_PERMITTED_DUE_TO_CHARGEBACK' });
    if (left === 0) throw new Refused({ issue: 'CAPTURE_FULLY_REFUNDED' });
    if (this.#parts.now().getTime() - capture.createdAt.getTime() > REFUND_WINDOW_MS)
      throw new Refused({ issue: 'REFUND_TIME_LIMIT_EXCEEDED' });
    if (amount !== null && amount.currency !== capture.amount.currency)
      throw new Refused({ issue: 'CURRENCY_MISMATCH' });
    const minor = amount?.minor ?? left;
    if (minor > left) throw new Refused({ issue: 'REFUND_AMOUNT_EXCEEDED' });
    if (capture.disputed && minor < left) throw new Refused({ issue: 'TRANSACTION_DISPUTED' });

    const refund = this.#giveBack(capture, 'refund', minor, note, this.nextRefund);
    if (refund.status === 'COMPLETED') this.#emitRefund(refund);
    return refund;
  }

  /** A pending refund reaches the payer, or does not. */
  settleRefund(id: string, status: 'COMPLETED' | 'FAILED'): Refund {
    const refund = this.refund(id);
    if (refund.status !== 'PENDING') throw new Refused({ issue: 'REFUND_STATUS_NOT_VALID' });
    refund.status = status;
    refund.updatedAt = this.#parts.now();
    if (status === 'FAILED') this.#book(refund.capture, -refund.amount.minor);
    else this.#emitRefund(refund);
    return refund;
  }

  /** The payer's bank takes all of it back. */
  reverseCapture(id: string): Refund {
    const capture = this.capture(id);
    const left = capture.amount.minor - capture.refundedMinor;
    if (capture.feeMinor === null || left === 0) throw new Refused({ issue: 'CAPTURE_STATUS_NOT_VALID' });
    const reversal = this.#giveBack(capture, 'reversal', left, null, 'COMPLETED');
    capture.reversed = true;
    capture.reason = 'CHARGEBACK';
    this.#emit('PAYMENT.CAPTURE.REVERSED', write.refundBody(reversal, this.#parts.addresses()));
    return reversal;
  }

  /** The payer complains; no money moves until somebody decides. */
  disputeCapture(id: string): Capture {
    const capture = this.capture(id);
    if (capture.feeMinor === null) throw new Refused({ issue: 'CAPTURE_STATUS_NOT_VALID' });
    capture.disputed = true;
    const now = this.#parts.now();
    this.#emit('CUSTOMER.DISPUTE.CREATED', write.disputeBody(this.#parts.ids.dispute(), capture, now));
    return capture;
  }

  #giveBack(
    capture: Capture,
    kind: Refund['kind'],
    minor: number,
    note: string | null,
    status: Refund['status'],
  ): Refund {
    const now = this.#parts.now();
    const amount = { currency: capture.amount.currency, minor };
    const id = this.#parts.ids.resource();
    const refund: Refund = { id, capture, kind, status, amount, note, createdAt: now, updatedAt: now };
    this.refunds.set(id, refund);
    capture.refunds.push(refund);
    this.#book(capture, minor);
    return refund;
  }

  #book(capture: Capture, minor: number): void {
    capture.refundedMinor += minor;
    const { refundedMinor, amount } = capture;
    capture.status =
      refundedMinor === 0 ? 'COMPLETED' : refundedMinor < amount.minor ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
    capture.updatedAt = this.#parts.now();
  }

  /** By currency, over what really moved. */
  money(): Record<string, Balance> {
    const sums: Record<string, Balance> = {};
    const of = (currency: string): Balance =>
      (sums[currency] ??= { captured: 0, fees: 0, refunded: 0, reversed: 0, balance: 0 });
    for (const { amount, feeMinor } of this.captures.values()) {
      if (feeMinor === null) continue;
      of(amount.currency).captured += amount.minor;
      of(amount.currency).fees += feeMinor;
    }
    for (const { amount, kind, status } of this.refunds.values()) {
      if (status === 'COMPLETED') of(amount.currency)[kind === 'refund' ? 'refunded' : 'reversed'] += amount.minor;
    }
    for (const sum of Object.values(sums)) sum.balance = sum.captured - sum.fees - sum.refunded - sum.reversed;
    return sums;
  }

  /** Ends the orders whose windows have passed; an approval among them is given back to the payer. */
  passTime(): void {
    const now = this.#parts.now().getTime();
    for (const order of this.#open) {
      const endsAt = (order.redirectedAt ?? order.createdAt).getTime() + ORDER_WINDOW_MS;
      if (now < endsAt) continue;
      this.#open.delete(order);
      if (order.status !== 'APPROVED') continue;
      order.status = 'VOIDED';
      order.updatedAt = new Date(endsAt);
      this.#emit('CHECKOUT.PAYMENT-APPROVAL.REVERSED', write.reversedApprovalBody(order));
    }
  }

  /** Takes up orders of an earlier run; what they have told the world stays told. */
  restore(orders: readonly Order[]): void {
    for (const order of orders) {
      const { capture, clientId, invoiceId } = order;
      this.orders.set(order.id, order);
      if (order.status !== 'COMPLETED' && order.status !== 'VOIDED') this.#open.add(order);
      if (capture === null) continue;
      this.captures.set(capture.id, capture);
      for (const refund of capture.refunds) this.refunds.set(refund.id, refund);
      if (invoiceId !== null && capture.status !== 'DECLINED') this.#usedInvoices.add(`${clientId} ${invoiceId}`);
    }
  }

  clear(): void {
    for (const kept of [this.orders, this.captures, this.refunds, this.#open, this.#usedInvoices]) kept.clear();
    this.events.length = 0;
    this.nextRefund = 'COMPLETED';
  }

  #emitCapture(capture: Capture, type: EventType): void {
    this.#emit(type, write.captureBody(capture, this.#parts.addresses()));
  }

  #emitRefund(refund: Refund): void {
    this.#emit('PAYMENT.CAPTURE.REFUNDED', write.refundBody(refund, this.#parts.addresses()));
  }

  #emit(type: EventType, resource: Record<string, unknown>): void {
    const id = this.#parts.ids.event();
    const at = this.#parts.now();
    const event = { id, type, at, body: write.eventBody(id, type, at, resource, this.#parts.addresses()) };
    this.events.push(event);
    this.#parts.onEvent(event);
  }
}

const unknown = (id: string): Refused =>
  new Refused({ issue: 'INVALID_RESOURCE_ID', field: 'id', value: id, location: 'path' });

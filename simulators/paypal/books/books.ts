/**
 * The state machine of orders, captures and refunds (docs/specification/providers.md 4). Uses no network and no timers:
 * expiry is evaluated lazily against the injected clock.
 */
import {
  type Ids,
  type Capture,
  type EventType,
  type NewOrder,
  type Order,
  type PaymentWay,
  type PaypalEvent,
  type Refund,
  calculateFee,
  type Money,
} from './model.ts';
import { RefusedError } from './issues.ts';
import * as write from './response-bodies.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** The time limit from creating an order to redirecting the payer, and from there to the capture. */
const ORDER_WINDOW_MS = 3 * HOUR_MS;
const REFUND_WINDOW_MS = 180 * DAY_MS;

/** The seller's totals in the smallest unit of one currency. */
export type Balance = { captured: number; fees: number; refunded: number; reversed: number; balance: number };

type Deps = {
  now: () => Date;
  ids: Ids;
  addresses: () => write.Addresses;
  /** Called for every event. */
  onEvent: (event: PaypalEvent) => void;
};

export class PaypalBooks {
  readonly orders = new Map<string, Order>();
  readonly captures = new Map<string, Capture>();
  readonly refunds = new Map<string, Refund>();
  /** Every event since the start or the last `clear`, oldest first. */
  readonly events: PaypalEvent[] = [];
  /** The initial status of the refunds that `refundCapture` creates from now on. */
  nextRefund: Refund['status'] = 'COMPLETED';
  readonly #deps: Deps;
  /** Orders that can still expire. */
  readonly #open = new Set<Order>();
  readonly #usedInvoices = new Set<string>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  create(newOrder: NewOrder): Order {
    const now = this.#deps.now();
    const order: Order = {
      ...newOrder,
      id: this.#deps.ids.resource(),
      status: newOrder.hasPaymentSource ? 'PAYER_ACTION_REQUIRED' : 'CREATED',
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

  /** @param clientId null skips the owner check, for payers */
  order(id: string, clientId: string | null = null): Order {
    this.expireOrders();
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

  /** Whether the order expired before its approval. An approved order that expires is VOIDED instead. */
  isExpired(order: Order): boolean {
    return order.status !== 'COMPLETED' && order.status !== 'VOIDED' && !this.#open.has(order);
  }

  /** Records the payer's arrival at the approval page, which starts the second time limit. */
  redirect(id: string): Order {
    const order = this.order(id);
    order.redirectedAt ??= this.#deps.now();
    return order;
  }

  approve(id: string, way: PaymentWay = 'instant'): Order {
    const order = this.redirect(id);
    if (order.status === 'COMPLETED') throw new RefusedError({ issue: 'ORDER_ALREADY_CAPTURED' });
    if (order.status === 'VOIDED') throw unknown(id);
    order.status = 'APPROVED';
    order.way = way;
    order.payerId ??= this.#deps.ids.payer();
    order.updatedAt = this.#deps.now();
    this.#emit('CHECKOUT.ORDER.APPROVED', write.orderBody(order, this.#deps.addresses()));
    return order;
  }

  /** Captures an approved order. The payer's choice on the approval page determines the result. */
  captureOrder(id: string, clientId: string): Order {
    const order = this.order(id, clientId);
    if (order.status === 'VOIDED') throw unknown(id);
    if (order.status === 'COMPLETED') throw new RefusedError({ issue: 'ORDER_ALREADY_CAPTURED' });
    if (order.status !== 'APPROVED') throw new RefusedError({ issue: 'ORDER_NOT_APPROVED' });
    if (order.way === 'bank-declines') {
      order.status = 'PAYER_ACTION_REQUIRED';
      order.way = null;
      order.declined = true;
      order.updatedAt = this.#deps.now();
      throw new RefusedError({ issue: 'INSTRUMENT_DECLINED' }, write.approvalUrl(order, this.#deps.addresses()));
    }
    const invoice = order.invoiceId === null ? null : `${clientId} ${order.invoiceId}`;
    if (invoice !== null && this.#usedInvoices.has(invoice)) throw new RefusedError({ issue: 'DUPLICATE_INVOICE_ID' });

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
    const now = this.#deps.now();
    const capture: Capture = {
      id: this.#deps.ids.resource(),
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
      // Immediate payment excludes eChecks, but PayPal may still hold the payment for review.
      capture.reason = order.immediatePaymentRequired ? 'PENDING_REVIEW' : 'ECHECK';
    } else if (order.way === 'declined-capture') {
      capture.status = 'DECLINED';
    } else {
      capture.feeMinor = calculateFee(capture.amount);
    }
    return capture;
  }

  /** Completes a pending capture. */
  completeCapture(id: string): Capture {
    const capture = this.#pending(id);
    capture.status = 'COMPLETED';
    capture.reason = null;
    capture.feeMinor = calculateFee(capture.amount);
    this.#emitCapture(capture, 'PAYMENT.CAPTURE.COMPLETED');
    return capture;
  }

  /** Declines a pending capture. */
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
    if (capture.status !== 'PENDING') throw new RefusedError({ issue: 'CAPTURE_STATUS_NOT_VALID' });
    capture.updatedAt = this.#deps.now();
    return capture;
  }

  /** @param amount null refunds the remaining amount */
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
    if (capture.status === 'PENDING') throw new RefusedError({ issue: 'PENDING_CAPTURE' });
    if (capture.status === 'DECLINED') throw new RefusedError({ issue: 'REFUND_NOT_ALLOWED' });
    if (capture.reversed) throw new RefusedError({ issue: 'REFUND_NOT_PERMITTED_DUE_TO_CHARGEBACK' });
    if (left === 0) throw new RefusedError({ issue: 'CAPTURE_FULLY_REFUNDED' });
    if (this.#deps.now().getTime() - capture.createdAt.getTime() > REFUND_WINDOW_MS)
      throw new RefusedError({ issue: 'REFUND_TIME_LIMIT_EXCEEDED' });
    if (amount !== null && amount.currency !== capture.amount.currency)
      throw new RefusedError({ issue: 'CURRENCY_MISMATCH' });
    const minor = amount?.minor ?? left;
    if (minor > left) throw new RefusedError({ issue: 'REFUND_AMOUNT_EXCEEDED' });
    if (capture.disputed && minor < left) throw new RefusedError({ issue: 'TRANSACTION_DISPUTED' });

    const refund = this.#createRefund(capture, 'refund', minor, note, this.nextRefund);
    if (refund.status === 'COMPLETED') this.#emitRefund(refund);
    return refund;
  }

  /** Completes or fails a pending refund. */
  settleRefund(id: string, status: 'COMPLETED' | 'FAILED'): Refund {
    const refund = this.refund(id);
    if (refund.status !== 'PENDING') throw new RefusedError({ issue: 'REFUND_STATUS_NOT_VALID' });
    refund.status = status;
    refund.updatedAt = this.#deps.now();
    if (status === 'FAILED') this.#addRefundedAmount(refund.capture, -refund.amount.minor);
    else this.#emitRefund(refund);
    return refund;
  }

  /** The payer's bank reverses the remaining amount (chargeback). */
  reverseCapture(id: string): Refund {
    const capture = this.capture(id);
    const left = capture.amount.minor - capture.refundedMinor;
    if (capture.feeMinor === null || left === 0) throw new RefusedError({ issue: 'CAPTURE_STATUS_NOT_VALID' });
    const reversal = this.#createRefund(capture, 'reversal', left, null, 'COMPLETED');
    capture.reversed = true;
    capture.reason = 'CHARGEBACK';
    this.#emit('PAYMENT.CAPTURE.REVERSED', write.refundBody(reversal, this.#deps.addresses()));
    return reversal;
  }

  /** The payer opens a dispute. No money moves. */
  disputeCapture(id: string): Capture {
    const capture = this.capture(id);
    if (capture.feeMinor === null) throw new RefusedError({ issue: 'CAPTURE_STATUS_NOT_VALID' });
    capture.disputed = true;
    const now = this.#deps.now();
    this.#emit('CUSTOMER.DISPUTE.CREATED', write.disputeBody(this.#deps.ids.dispute(), capture, now));
    return capture;
  }

  #createRefund(
    capture: Capture,
    kind: Refund['kind'],
    minor: number,
    note: string | null,
    status: Refund['status'],
  ): Refund {
    const now = this.#deps.now();
    const amount = { currency: capture.amount.currency, minor };
    const id = this.#deps.ids.resource();
    const refund: Refund = { id, capture, kind, status, amount, note, createdAt: now, updatedAt: now };
    this.refunds.set(id, refund);
    capture.refunds.push(refund);
    if (status !== 'FAILED') this.#addRefundedAmount(capture, minor);
    return refund;
  }

  #addRefundedAmount(capture: Capture, minor: number): void {
    capture.refundedMinor += minor;
    const { refundedMinor, amount } = capture;
    capture.status =
      refundedMinor === 0 ? 'COMPLETED' : refundedMinor < amount.minor ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
    capture.updatedAt = this.#deps.now();
  }

  /** Totals by currency, without pending and declined payments. */
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

  /** Expires orders past their time limit. PayPal reverses the approval of an approved order. */
  expireOrders(): void {
    const now = this.#deps.now().getTime();
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

  /** Restores orders of an earlier run without emitting their events again. */
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
    for (const store of [this.orders, this.captures, this.refunds, this.#open, this.#usedInvoices]) store.clear();
    this.events.length = 0;
    this.nextRefund = 'COMPLETED';
  }

  #emitCapture(capture: Capture, type: EventType): void {
    this.#emit(type, write.captureBody(capture, this.#deps.addresses()));
  }

  #emitRefund(refund: Refund): void {
    this.#emit('PAYMENT.CAPTURE.REFUNDED', write.refundBody(refund, this.#deps.addresses()));
  }

  #emit(type: EventType, resource: Record<string, unknown>): void {
    const id = this.#deps.ids.event();
    const at = this.#deps.now();
    const event = { id, type, at, body: write.eventBody(id, type, at, resource, this.#deps.addresses()) };
    this.events.push(event);
    this.#deps.onEvent(event);
  }
}

const unknown = (id: string): RefusedError =>
  new RefusedError({ issue: 'INVALID_RESOURCE_ID', field: 'id', value: id, location: 'path' });

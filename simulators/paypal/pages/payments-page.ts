/** Every order of the sandbox with what became of it, and the buttons that decide what becomes of it next. */
import { escapeHtml, sandboxDocument } from '../../page.ts';
import type { PaypalBooks } from '../books/books.ts';
import type { Order } from '../books/model.ts';
import { moneyBody } from '../books/money.ts';
import { moneyText } from './approval-page.ts';

/** As decisions.md 8 promises it to scripts and tests. */
export type ListedPayment = {
  orderId: string;
  /** That of the capture once there is one, before that the order's. */
  status: string;
  amount: string;
  currency: string;
  customId: string | null;
  at: string;
};

const WORDS: Readonly<Record<string, string>> = {
  CREATED: 'Waiting for the payer',
  PAYER_ACTION_REQUIRED: 'Waiting for the payer',
  APPROVED: 'Approved, not captured yet',
  EXPIRED: 'Expired',
  VOIDED: 'Given back: nobody captured it in time',
  COMPLETED: 'Paid',
  PENDING: 'Pending: the money is on its way',
  DECLINED: 'Declined',
  PARTIALLY_REFUNDED: 'Refunded in part',
  REFUNDED: 'Refunded',
};

/** Newest first. */
const newestFirst = (books: PaypalBooks): Order[] => [...books.orders.values()].toReversed();

const statusOf = (books: PaypalBooks, order: Order): string =>
  books.isExpired(order) ? 'EXPIRED' : (order.capture?.status ?? order.status);

export function listPayments(books: PaypalBooks): ListedPayment[] {
  books.passTime();
  return newestFirst(books).map((order) => {
    const { value, currency_code: currency } = moneyBody(order.amount);
    const { id: orderId, customId, createdAt } = order;
    return { orderId, status: statusOf(books, order), amount: value, currency, customId, at: createdAt.toISOString() };
  });
}

export function paymentsPage(books: PaypalBooks): string {
  books.passTime();
  const orders = newestFirst(books);
  const list =
    orders.length === 0
      ? '<p>No payments yet. Choose “Upgrade with PayPal” in the journal, then reload this page.</p>'
      : `<ul class="payments">${orders.map((order) => row(books, order)).join('\n')}</ul>`;
  return sandboxDocument('Payments', `<p class="stamp">PayPal sandbox: no money moves</p>\n${list}`);
}

function row(books: PaypalBooks, order: Order): string {
  const status = statusOf(books, order);
  const reversed = order.capture?.reversed === true;
  const words = reversed ? 'Taken back by the payer’s bank' : (WORDS[status] ?? status);
  const at = order.createdAt.toISOString();
  return `<li>
<h2>${escapeHtml(moneyText(order.amount))} <span class="status" data-status="${status}">${escapeHtml(words)}</span></h2>
<p class="quiet">${escapeHtml(order.description ?? 'An order')},
<time datetime="${at}">${at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<dl class="ids"><div><dt>Order</dt><dd><code>${order.id}</code></dd></div>
${order.capture === null ? '' : `<div><dt>Capture</dt><dd><code>${order.capture.id}</code></dd></div>`}
${order.customId === null ? '' : `<div><dt>Payment</dt><dd><code>${escapeHtml(order.customId)}</code></dd></div>`}
</dl>
${actions(order)}
</li>`;
}

/** What PayPal, a bank or the seller may do to it now. */
function actions(order: Order): string {
  const { capture } = order;
  if (capture === null) return '';
  const named = ` <span class="unseen">for order ${order.id}</span>`;
  const button = (value: string, label: string): string =>
    `<button name="do" value="${value}">${label}${named}</button>`;
  const buttons =
    capture.status === 'PENDING'
      ? button('complete', 'The money arrives') + button('deny', 'It never arrives')
      : capture.status === 'COMPLETED' || capture.status === 'PARTIALLY_REFUNDED'
        ? button('refund', 'Refund') + button('reverse', 'The bank takes it back')
        : '';
  if (buttons === '') return '';
  return `<form method="post" action="/sandbox/payments" class="actions">
<input type="hidden" name="capture" value="${capture.id}">${buttons}</form>`;
}

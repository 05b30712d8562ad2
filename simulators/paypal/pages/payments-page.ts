/** The list of all orders with their status and the actions of PayPal, the bank and the seller. */
import { escapeHtml, renderSandboxPage } from '../../page.ts';
import type { PaypalBooks } from '../books/books.ts';
import type { Order } from '../books/model.ts';
import { moneyBody } from '../books/money.ts';
import { moneyText } from './approval-page.ts';

/** The JSON format that docs/specification/sandbox-and-running.md 2 specifies for scripts and tests. */
export type ListedPayment = {
  orderId: string;
  /** EXPIRED, else the status of the capture if there is one, else the status of the order. */
  status: string;
  amount: string;
  currency: string;
  customId: string | null;
  at: string;
};

const STATUS_LABELS: Readonly<Record<string, string>> = {
  CREATED: 'Waiting for the payer',
  PAYER_ACTION_REQUIRED: 'Waiting for the payer',
  APPROVED: 'Approved, not captured yet',
  EXPIRED: 'Expired',
  VOIDED: 'Expired before it was captured',
  COMPLETED: 'Paid',
  PENDING: 'Pending: the money is on its way',
  DECLINED: 'Declined',
  PARTIALLY_REFUNDED: 'Refunded in part',
  REFUNDED: 'Refunded',
};

const newestFirst = (books: PaypalBooks): Order[] => [...books.orders.values()].toReversed();

const displayStatus = (books: PaypalBooks, order: Order): string =>
  books.isExpired(order) ? 'EXPIRED' : (order.capture?.status ?? order.status);

export function listPayments(books: PaypalBooks): ListedPayment[] {
  books.expireOrders();
  return newestFirst(books).map((order) => {
    const { value, currency_code: currency } = moneyBody(order.amount);
    const { id: orderId, customId, createdAt } = order;
    return {
      orderId,
      status: displayStatus(books, order),
      amount: value,
      currency,
      customId,
      at: createdAt.toISOString(),
    };
  });
}

export function paymentsPage(books: PaypalBooks): string {
  books.expireOrders();
  const orders = newestFirst(books);
  const list =
    orders.length === 0
      ? '<p>No payments yet. Choose “Upgrade with PayPal” in the journal, then reload this page.</p>'
      : `<ul class="payments">${orders.map((order) => renderRow(books, order)).join('\n')}</ul>`;
  return renderSandboxPage('Payments', `<p class="stamp">PayPal sandbox: no money moves</p>\n${list}`);
}

function renderRow(books: PaypalBooks, order: Order): string {
  const status = displayStatus(books, order);
  const reversed = order.capture?.reversed === true;
  const words = reversed ? 'Taken back by the payer’s bank' : (STATUS_LABELS[status] ?? status);
  const at = order.createdAt.toISOString();
  return `<li>
<h2>${escapeHtml(moneyText(order.amount))} <span class="status" data-status="${status}">${escapeHtml(words)}</span></h2>
<p class="quiet">${escapeHtml(order.description ?? 'An order')},
<time datetime="${at}">${at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<dl class="ids"><div><dt>Order</dt><dd><code>${order.id}</code></dd></div>
${order.capture === null ? '' : `<div><dt>Capture</dt><dd><code>${order.capture.id}</code></dd></div>`}
${order.customId === null ? '' : `<div><dt>Payment</dt><dd><code>${escapeHtml(order.customId)}</code></dd></div>`}
</dl>
${renderActions(order)}
</li>`;
}

function renderActions(order: Order): string {
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

/** The sandbox's PayPal pages: the approval page and the list of payments. */
import { Hono } from 'hono';
import type { PaypalBooks } from './books/books.ts';
import { RefusedError } from './books/issues.ts';
import { type Order, type PaymentWay, moneyBody, type Money } from './books/model.ts';
import type { PaypalSimulator } from './simulator.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';

const WAYS: Readonly<Record<string, PaymentWay>> = { pay: 'instant', decline: 'bank-declines', echeck: 'echeck' };

export function payerPages({ books }: PaypalSimulator): Hono {
  const app = new Hono();

  app.get('/sandbox/paypal/checkoutnow', (context) => {
    const order = findPayableOrder(books, context.req.query('token'));
    return order ? context.html(approvalPage(order), 200, NO_STORE) : context.html(gonePage(), 404, NO_STORE);
  });

  app.post('/sandbox/paypal/checkoutnow', async (context) => {
    const order = findPayableOrder(books, context.req.query('token'));
    if (order === null) return context.html(gonePage(), 404, NO_STORE);
    const { id, returnUrl, cancelUrl } = order;
    const { choice } = await context.req.parseBody();
    // As with PayPal, the order stays unchanged and the payer can return to it.
    if (choice === 'cancel') return context.redirect(withQuery(cancelUrl, { token: id }), 302);
    const way = typeof choice === 'string' ? WAYS[choice] : undefined;
    if (way === undefined) return context.html(approvalPage(order), 400, NO_STORE);
    const { payerId } = books.approve(id, way);
    return context.redirect(withQuery(returnUrl, { token: id, PayerID: payerId ?? '' }), 302);
  });

  app.get('/sandbox/payments', (context) => {
    const wantsHtml = context.req.header('accept')?.includes('text/html') ?? false;
    const headers = { ...NO_STORE, Vary: 'Accept' };
    return wantsHtml
      ? context.html(paymentsPage(books), 200, headers)
      : context.json(listPayments(books), 200, headers);
  });

  app.post('/sandbox/payments', async (context) => {
    const { do: command, capture: id } = await context.req.parseBody();
    if (typeof id === 'string' && typeof command === 'string') applyCommand(books, id, command);
    return context.redirect('/sandbox/payments', 303);
  });
  return app;
}

const NO_STORE = { 'Cache-Control': 'no-store' };

/** Returns null if the order is paid, expired or unknown. Records the payer's arrival. */
function findPayableOrder(books: PaypalBooks, token = ''): Order | null {
  try {
    const order = books.redirect(token);
    return order.status === 'COMPLETED' || order.status === 'VOIDED' ? null : order;
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

function applyCommand(books: PaypalBooks, id: string, command: string): void {
  try {
    if (command === 'complete') books.completeCapture(id);
    if (command === 'deny') books.denyCapture(id);
    if (command === 'refund') books.refundCapture(id);
    if (command === 'reverse') books.reverseCapture(id);
  } catch (error) {
    // A stale page may offer an action that is no longer possible. The redirect shows the current state.
    if (!(error instanceof RefusedError)) throw error;
  }
}

/** Preserves the existing query parameters. */
function withQuery(address: string, added: Record<string, string>): string {
  if (address === '') return '/';
  const url = new URL(address);
  for (const [name, value] of Object.entries(added)) url.searchParams.set(name, value);
  return url.href;
}

const NO_MONEY = '<p class="stamp">PayPal sandbox: no money moves</p>';

/** Formats as `$24.00 USD`. The code distinguishes currencies that share a symbol. */
const moneyText = (money: Money): string => {
  const { value, currency_code: currency } = moneyBody(money);
  const text = new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(Number(value));
  return `${text} ${currency}`;
};

function approvalPage(order: Order): string {
  const brand = escapeHtml(order.brandName ?? 'This shop');
  const amount = escapeHtml(moneyText(order.amount));
  const declined = order.declined
    ? '<p class="trouble" role="status">The bank declined the last try. Choose another way to pay.</p>'
    : '';
  return renderSandboxPage(
    `Pay ${order.brandName ?? 'this shop'}`,
    `${NO_MONEY}
${declined}
<dl class="bill">
<div><dt>To</dt><dd>${brand}</dd></div>
${order.description === null ? '' : `<div><dt>For</dt><dd>${escapeHtml(order.description)}</dd></div>`}
<div><dt>Paid by</dt><dd>Pat Payer, payer@example.com</dd></div>
<div class="total"><dt>Amount</dt><dd>${amount}</dd></div>
</dl>
<p class="quiet">${brand} sees the payer’s name, e-mail address and country, and never how they paid.</p>
<form method="post" action="/sandbox/paypal/checkoutnow?token=${escapeHtml(order.id)}" class="choices">
<button name="choice" value="pay" class="primary">Pay now</button>
<button name="choice" value="decline">Pay, the bank will decline</button>
<button name="choice" value="echeck">Pay with eCheck (pending)</button>
<button name="choice" value="cancel" class="text">Cancel</button>
</form>`,
  );
}

/** The page instead of the approval page for an order that is paid, expired or unknown. */
const gonePage = (): string =>
  renderSandboxPage(
    'Nothing to pay here',
    `${NO_MONEY}
<p>This order is paid already, has expired, or never existed. Nothing was taken just now.</p>
<p><a href="/journal">Back to the journal</a>, or look at <a href="/sandbox/payments">the payments</a> so far.</p>`,
  );

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

function listPayments(books: PaypalBooks): ListedPayment[] {
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

function paymentsPage(books: PaypalBooks): string {
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

/** The sandbox's PayPal pages: the approval page and the list of payments. */
import { Hono } from 'hono';
import type { PaypalBooks } from '../books/books.ts';
import { RefusedError } from '../books/issues.ts';
import type { Order, PaymentWay } from '../books/model.ts';
import type { PaypalSimulator } from '../simulator.ts';
import { approvalPage, gonePage } from './approval-page.ts';
import { listPayments, paymentsPage } from './payments-page.ts';

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

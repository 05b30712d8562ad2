/** What people see of PayPal in the sandbox: the approval page, and the list of payments. */
import { Hono } from 'hono';
import type { PaypalBooks } from '../books/books.ts';
import { Refused } from '../books/issues.ts';
import type { Order, PaymentWay } from '../books/model.ts';
import type { PaypalSimulator } from '../simulator.ts';
import { approvalPage, gonePage } from './approval-page.ts';
import { listPayments, paymentsPage } from './payments-page.ts';

const WAYS: Readonly<Record<string, PaymentWay>> = { pay: 'instant', decline: 'bank-declines', echeck: 'echeck' };

export function payerPages({ books }: PaypalSimulator): Hono {
  const app = new Hono();

  app.get('/sandbox/paypal/checkoutnow', (context) => {
    const order = payable(books, context.req.query('token'));
    return order ? context.html(approvalPage(order), 200, FRESH) : context.html(gonePage(), 404, FRESH);
  });

  app.post('/sandbox/paypal/checkoutnow', async (context) => {
    const order = payable(books, context.req.query('token'));
    if (order === null) return context.html(gonePage(), 404, FRESH);
    const { id, returnUrl, cancelUrl } = order;
    const { choice } = await context.req.parseBody();
    // As at PayPal: the order stays as it was, so that the payer may come back to it.
    if (choice === 'cancel') return context.redirect(withQuery(cancelUrl, { token: id }), 302);
    const way = typeof choice === 'string' ? WAYS[choice] : undefined;
    if (way === undefined) return context.html(approvalPage(order), 400, FRESH);
    const { payerId } = books.approve(id, way);
    return context.redirect(withQuery(returnUrl, { token: id, PayerID: payerId ?? '' }), 302);
  });

  app.get('/sandbox/payments', (context) => {
    const person = context.req.header('accept')?.includes('text/html') ?? false;
    const headers = { ...FRESH, Vary: 'Accept' };
    return person ? context.html(paymentsPage(books), 200, headers) : context.json(listPayments(books), 200, headers);
  });

  app.post('/sandbox/payments', async (context) => {
    const { do: command, capture: id } = await context.req.parseBody();
    if (typeof id === 'string' && typeof command === 'string') act(books, id, command);
    return context.redirect('/sandbox/payments', 303);
  });
  return app;
}

const FRESH = { 'Cache-Control': 'no-store' };

/** null: paid, expired or unknown. Looking at it is being sent to it. */
function payable(books: PaypalBooks, token = ''): Order | null {
  try {
    const order = books.redirect(token);
    return order.status === 'COMPLETED' || order.status === 'VOIDED' ? null : order;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

function act(books: PaypalBooks, id: string, command: string): void {
  try {
    if (command === 'complete') books.completeCapture(id);
    if (command === 'deny') books.denyCapture(id);
    if (command === 'refund') books.refundCapture(id);
    if (command === 'reverse') books.reverseCapture(id);
  } catch (error) {
    // A page that was open for a while offers what is no longer possible: the new page shows what is.
    if (!(error instanceof Refused)) throw error;
  }
}

/** The client's own query stays. */
function withQuery(address: string, added: Record<string, string>): string {
  if (address === '') return '/';
  const url = new URL(address);
  for (const [name, value] of Object.entries(added)) url.searchParams.set(name, value);
  return url.href;
}

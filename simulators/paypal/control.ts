/** HTTP endpoints with which tests and scripts control the PayPal simulator: faults, payments, clock, webhooks. */
import { Hono, type Context } from 'hono';
import { RefusedError } from './books/issues.ts';
import { type PaymentWay, toMinor } from './books/model.ts';
import { captureBody, orderBody, refundBody } from './books/response-bodies.ts';
import type { Fault, PaypalSimulator } from './simulator.ts';
import type { Corruption, Delivery, DeliverySettings } from './webhooks.ts';

/** Mounted at `/__simulator`, and at `/sandbox/__simulator`, where end-to-end tests reach it through the server. */
export function controlRoutes(simulator: PaypalSimulator): Hono {
  const { books, control, webhooks } = simulator;
  const addresses = (): { api: string; payer: string } => simulator.addresses();
  const app = new Hono();

  app.onError((error, context) => {
    if (error instanceof RefusedError) return context.json({ issue: error.failures[0]!.issue }, 409);
    return context.json({ error: error.message }, 400);
  });

  app.get('/state', (context) =>
    context.json({
      now: control.now().toISOString(),
      orders: [...books.orders.values()].map((order) => orderBody(order, addresses())),
      captures: [...books.captures.values()].map((capture) => captureBody(capture, addresses())),
      refunds: [...books.refunds.values()].map((refund) => refundBody(refund, addresses())),
      money: books.money(),
      faults: control.faults(),
    }),
  );
  app.get('/requests', (context) => context.json(control.requests()));
  app.post('/reset', (context) => {
    control.reset();
    return context.body(null, 204);
  });
  app.post('/fail', async (context) => {
    control.fail(await json<Fault>(context));
    return context.body(null, 204);
  });
  app.post('/release', (context) => context.json({ released: control.release() }));
  app.post('/tokens/expire', (context) => {
    control.expireTokens();
    return context.body(null, 204);
  });
  app.post('/clock', async (context) => {
    const { advanceMs = 0 } = await json<{ advanceMs?: number }>(context);
    control.advance(advanceMs);
    return context.json({ now: control.now().toISOString() });
  });

  app.post('/orders/:id/:command', async (context) => {
    const { id, command } = context.req.param();
    const { way } = await json<{ way?: PaymentWay }>(context);
    const ways: Record<string, PaymentWay> = { approve: way ?? 'instant', decline: 'bank-declines', echeck: 'echeck' };
    const chosen = ways[command];
    if (chosen === undefined) return context.notFound();
    return context.json(orderBody(books.approve(id, chosen), addresses()));
  });
  app.post('/captures/:id/:command', async (context) => {
    const { id, command } = context.req.param();
    const { amount } = await json<{ amount?: string }>(context);
    if (command === 'complete') books.completeCapture(id);
    else if (command === 'deny') books.denyCapture(id);
    else if (command === 'reverse') books.reverseCapture(id);
    else if (command === 'dispute') books.disputeCapture(id);
    else if (command === 'refund') {
      const { currency } = books.capture(id).amount;
      books.refundCapture(id, { amount: amount === undefined ? null : { currency, minor: toMinor(currency, amount) } });
    } else return context.notFound();
    return context.json(captureBody(books.capture(id), addresses()));
  });
  app.post('/refunds/next', async (context) => {
    const { status } = await json<{ status?: string }>(context);
    books.nextRefund = status === 'PENDING' ? 'PENDING' : 'COMPLETED';
    return context.body(null, 204);
  });
  app.post('/refunds/:id/:command', (context) => {
    const { id, command } = context.req.param();
    if (command !== 'complete' && command !== 'fail') return context.notFound();
    return context.json(
      refundBody(books.settleRefund(id, command === 'complete' ? 'COMPLETED' : 'FAILED'), addresses()),
    );
  });

  app.get('/webhooks', (context) => context.json(webhooks.all().map(describeDelivery)));
  app.put('/webhooks', async (context) => {
    webhooks.set(await json<Partial<DeliverySettings>>(context));
    return context.body(null, 204);
  });
  app.post('/webhooks/deliver', async (context) =>
    context.json({ answers: await webhooks.deliverAll(await json<{ reversed?: boolean; times?: number }>(context)) }),
  );
  app.post('/webhooks/:id/:command', async (context) => {
    const { id, command } = context.req.param();
    const { corrupt } = await json<{ corrupt?: Corruption }>(context);
    if (command === 'deliver') return context.json({ answers: await webhooks.deliver(id) });
    if (command === 'duplicate') return context.json({ answers: await webhooks.deliver(id, { times: 2 }) });
    if (command === 'corrupt')
      return context.json({ answers: await webhooks.deliver(id, { corrupt: corrupt ?? 'signature' }) });
    return context.notFound();
  });
  return app;
}

const describeDelivery = ({ event, statuses, delivered }: Delivery): Record<string, unknown> => ({
  id: event.id,
  type: event.type,
  at: event.at.toISOString(),
  delivered,
  answers: statuses,
});

async function json<T extends object>(context: Context): Promise<T> {
  const text = await context.req.text();
  return (text === '' ? {} : JSON.parse(text)) as T;
}

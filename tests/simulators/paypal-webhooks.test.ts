/**
 * The PayPal simulator's webhooks and pages (docs/specification/providers.md 3 and
 * docs/specification/sandbox-and-running.md 2).
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Corruption } from '../../simulators/paypal/webhooks.ts';
import { usePaypalClient, type Client, type Json } from './paypal-client.ts';

const paypal = usePaypalClient();

type Received = { headers: Record<string, string>; body: string };
let received: Received[] = [];
/** The listener's next response codes; 200 when empty. */
let answers: number[] = [];

const listener = createServer((incoming, outgoing) => {
  let body = '';
  incoming.setEncoding('utf8');
  incoming.on('data', (part: string) => void (body += part));
  incoming.on('end', () => {
    received.push({ headers: incoming.headers as Record<string, string>, body });
    outgoing.writeHead(answers.shift() ?? 200).end();
  });
});
let listenerUrl = '';
beforeAll(async () => {
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  listenerUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/hook`;
});
afterAll(() => void listener.close());

beforeEach(async () => {
  received = [];
  answers = [];
  await paypal().send('PUT', '/__simulator/webhooks', {
    body: { automatic: false, delayMs: 0, times: 1, reversed: false, corrupt: null, listenerUrl },
  });
});

/** Calls the simulator's endpoint verify-webhook-signature. */
const verifySignature = (client: Client, { headers, body }: Received): Promise<string> =>
  client
    .send('POST', '/v1/notifications/verify-webhook-signature', {
      body: `${JSON.stringify({
        auth_algo: headers['paypal-auth-algo'],
        cert_url: headers['paypal-cert-url'],
        transmission_id: headers['paypal-transmission-id'],
        transmission_sig: headers['paypal-transmission-sig'],
        transmission_time: headers['paypal-transmission-time'],
        webhook_id: client.server.settings.PAYPAL_WEBHOOK_ID,
      }).slice(0, -1)},"webhook_event":${body}}`,
    })
    .then((answer) => answer.body.verification_status as string);

const listWebhooks = async (client: Client): Promise<Json[]> =>
  (await client.get('/__simulator/webhooks')).body as Json[];

test('holds an event until a test delivers it', async () => {
  const client = paypal();
  const id = await client.approved();
  const [held] = await listWebhooks(client);
  expect(held).toMatchObject({ type: 'CHECKOUT.ORDER.APPROVED', delivered: false, answers: [] });
  expect(received).toEqual([]);
  expect((await client.command(`/webhooks/${held.id}/deliver`)).body).toEqual({ answers: [200] });
  expect((await listWebhooks(client))[0]).toMatchObject({ delivered: true, answers: [200] });
  const event = JSON.parse(received[0]!.body);
  expect(event).toMatchObject({ id: held.id, event_type: 'CHECKOUT.ORDER.APPROVED', resource_type: 'checkout-order' });
  expect([event.resource.id, event.resource.status]).toEqual([id, 'APPROVED']);
});

test('confirms what it has signed', async () => {
  const client = paypal();
  await client.captured();
  await client.command('/webhooks/deliver');
  expect(received.map(({ body }) => JSON.parse(body).event_type)).toEqual([
    'CHECKOUT.ORDER.APPROVED',
    'PAYMENT.CAPTURE.COMPLETED',
  ]);
  for (const one of received) {
    expect(one.headers['paypal-auth-algo']).toBe('SHA256withRSA');
    expect(await verifySignature(client, one)).toBe('SUCCESS');
  }
});

test.each<Corruption>(['signature', 'body', 'webhook-id', 'certificate-host', 'key'])(
  'does not confirm an event with a wrong %s',
  async (corrupt) => {
    const client = paypal();
    await client.captured();
    const id = (await listWebhooks(client))[1].id as string;
    await client.command(`/webhooks/${id}/corrupt`, { corrupt });
    expect(await verifySignature(client, received[0]!)).toBe('FAILURE');
  },
);

test('can send an event long after it was signed', async () => {
  const client = paypal();
  await client.captured();
  const id = (await listWebhooks(client))[1].id as string;
  await client.command(`/webhooks/${id}/corrupt`, { corrupt: 'time' });
  expect(await verifySignature(client, received[0]!)).toBe('SUCCESS');
  const sentAt = Date.parse(received[0]!.headers['paypal-transmission-time']!);
  expect(client.server.control.now().getTime() - sentAt).toBeGreaterThan(29 * 24 * 60 * 60 * 1000);
});

test('a duplicate delivery has the same body and the same transmission id', async () => {
  const client = paypal();
  await client.approved();
  const [{ id }] = (await listWebhooks(client)) as [Json];
  expect((await client.command(`/webhooks/${id}/duplicate`)).body).toEqual({ answers: [200, 200] });
  expect(received[1]!.body).toBe(received[0]!.body);
  expect(received[1]!.headers['paypal-transmission-id']).toBe(received[0]!.headers['paypal-transmission-id']);
});

test('a rejected delivery stays held', async () => {
  const client = paypal();
  await client.captured();
  answers = [500, 401];
  expect((await client.command('/webhooks/deliver')).body).toEqual({ answers: [500, 401] });
  expect((await listWebhooks(client)).map(({ delivered }) => delivered as boolean)).toEqual([false, false]);
  expect((await client.command('/webhooks/deliver', { reversed: true })).body).toEqual({ answers: [200, 200] });
  expect(received.map(({ body }) => JSON.parse(body).event_type).slice(2)).toEqual([
    'PAYMENT.CAPTURE.COMPLETED',
    'CHECKOUT.ORDER.APPROVED',
  ]);
  expect(await listWebhooks(client)).toMatchObject([{ answers: [500, 200] }, { answers: [401, 200] }]);
});

test('automatic deliveries can be delayed, reversed and duplicated, and are retried after a rejection', async () => {
  const client = paypal();
  await client.send('PUT', '/__simulator/webhooks', {
    body: { automatic: true, delayMs: 50, times: 2, reversed: true, firstRetryMs: 1 },
  });
  answers = [200, 200, 503, 503, 503];
  const orders = [await client.newOrder(), await client.newOrder()];
  for (const order of orders) client.server.books.approve(order);
  await expect.poll(() => received.length).toBe(6);
  const [first, second] = client.server.books.events as [Json, Json];
  const ids = received.map(({ body }) => JSON.parse(body).id as string);
  expect(ids).toEqual([second.id, second.id, first.id, first.id, first.id, first.id]);
  await expect
    .poll(() => listWebhooks(client))
    .toMatchObject([{ answers: [503, 503, 503, 200] }, { answers: [200, 200] }]);
});

test('a client can list the events and request another delivery', async () => {
  const client = paypal();
  await client.captured();
  const { body } = await client.get('/v1/notifications/webhooks-events?page_size=1');
  expect([body.count, body.events.length, body.events[0].event_type]).toEqual([2, 1, 'PAYMENT.CAPTURE.COMPLETED']);
  const one = `/v1/notifications/webhooks-events/${body.events[0].id}`;
  expect((await client.get(one)).body).toEqual(body.events[0]);
  expect((await client.get('/v1/notifications/webhooks-events?event_type=CHECKOUT.ORDER.APPROVED')).body.count).toBe(1);
  await client.command('/webhooks/deliver');
  expect((await client.send('POST', `${one}/resend`)).status).toBe(202);
  await client.command('/webhooks/deliver');
  expect(received.map(({ body: text }) => JSON.parse(text).id).filter((id) => id === body.events[0].id)).toHaveLength(
    2,
  );
  expect(received[2]!.headers['paypal-transmission-id']).not.toBe(received[1]!.headers['paypal-transmission-id']);
});

const page = (client: Client, token: string, choice?: string): Promise<Response> =>
  fetch(`${client.server.url}/sandbox/paypal/checkoutnow?token=${token}`, {
    redirect: 'manual',
    ...(choice !== undefined && { method: 'POST', body: new URLSearchParams({ choice }) }),
  });

test('the approval page shows the payee, the amount and that no money moves', async () => {
  const client = paypal();
  const id = await client.newOrder({ description: '<b>Closer</b>, one year' }, { brand_name: 'Hustle & Forge' });
  const html = await (await page(client, id)).text();
  expect(html).toContain('PayPal sandbox: no money moves');
  expect(html).toContain('Hustle &amp; Forge');
  expect(html).toContain('&lt;b&gt;Closer&lt;/b&gt;, one year');
  expect(html).toContain('$24.00 USD');
  for (const button of ['Pay now', 'Pay, the bank will decline', 'Pay with eCheck (pending)', 'Cancel'])
    expect(html).toContain(`>${button}</button>`);
});

test.each([
  ['pay', 'COMPLETED'],
  ['echeck', 'PENDING'],
])('choosing "%s" approves the order and redirects the payer', async (choice, status) => {
  const client = paypal();
  const id = await client.newOrder();
  const answer = await page(client, id, choice);
  const { payerId } = client.server.books.orders.get(id)!;
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe(
    `http://journal.test/journal?payment=success&token=${id}&PayerID=${payerId}`,
  );
  const { body } = await client.capture(id);
  expect(body.purchase_units[0].payments.captures[0].status).toBe(status);
});

test('a declined payment fails at the capture and shows a message on the approval page', async () => {
  const client = paypal();
  const id = await client.newOrder();
  expect((await page(client, id, 'decline')).status).toBe(302);
  expect((await client.capture(id)).body.details[0].issue).toBe('INSTRUMENT_DECLINED');
  expect(await (await page(client, id)).text()).toContain('The bank declined the last try.');
});

test('cancelling redirects to the cancel URL and leaves the order unchanged', async () => {
  const client = paypal();
  const id = await client.newOrder();
  const answer = await page(client, id, 'cancel');
  expect(answer.headers.get('location')).toBe(`http://journal.test/journal?payment=cancelled&token=${id}`);
  expect((await client.get(`/v2/checkout/orders/${id}`)).body.status).toBe('PAYER_ACTION_REQUIRED');
  expect(client.server.books.events).toEqual([]);
});

test('the approval page rejects paid and unknown orders', async () => {
  const client = paypal();
  const paid = await client.approved();
  await client.capture(paid);
  for (const token of [paid, 'UNKNOWN', '<script>']) {
    expect((await page(client, token)).status).toBe(404);
    const tried = await page(client, token, 'pay');
    expect([tried.status, tried.headers.get('location')]).toEqual([404, null]);
    expect(await tried.text()).not.toContain('<script>');
  }
});

const JSON_LIST = { accept: 'application/json' };

test('returns the payments as JSON, newest first', async () => {
  const client = paypal();
  const first = await client.approved('approve', { custom_id: 'one' });
  const second = await client.newOrder({ custom_id: 'two', amount: { currency_code: 'EUR', value: '5.00' } });
  await client.capture(first);
  const at = client.server.control.now().toISOString();
  for (const headers of [JSON_LIST, { accept: '*/*' }]) {
    const answer = await fetch(`${client.server.url}/sandbox/payments`, { headers });
    expect(await answer.json()).toEqual([
      { orderId: second, status: 'PAYER_ACTION_REQUIRED', amount: '5.00', currency: 'EUR', customId: 'two', at },
      { orderId: first, status: 'COMPLETED', amount: '24.00', currency: 'USD', customId: 'one', at },
    ]);
  }
});

test('browsers get a page with the possible actions', async () => {
  const client = paypal();
  const shown = (): Promise<string> =>
    fetch(`${client.server.url}/sandbox/payments`, { headers: { accept: 'text/html' } }).then((answer) =>
      answer.text(),
    );
  const act = (capture: string, command: string): Promise<Response> =>
    fetch(`${client.server.url}/sandbox/payments`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ capture, do: command }),
    });
  expect(await shown()).toContain('No payments yet.');
  const pending = await client.captured('echeck', { description: '<i>' });
  expect(await shown()).toContain('The money arrives');
  expect(await shown()).not.toContain('<i>');
  expect((await act(pending, 'complete')).headers.get('location')).toBe('/sandbox/payments');
  expect(await shown()).toMatch(/Paid[\s\S]*Refund/);
  await act(pending, 'refund');
  expect(await shown()).toContain('>Refunded<');
  // A stale page offers an action that is no longer possible.
  expect((await act(pending, 'deny')).status).toBe(303);
  const reversed = await client.captured();
  await act(reversed, 'reverse');
  expect(await shown()).toContain('Taken back by the payer’s bank');
});

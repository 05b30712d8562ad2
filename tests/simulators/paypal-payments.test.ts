/** The PayPal simulator's captures after the payment: pending, refunds, reversals, disputes; and its faults. */
import { expect, test } from 'vitest';
import { DAY_MS, createOrderBody, usePaypalClient, refusal, USD, type Client, type Json } from './paypal-client.ts';

const paypal = usePaypalClient();

const captureOf = async (client: Client, id: string): Promise<Json> =>
  (await client.get(`/v2/payments/captures/${id}`)).body;

const eventTypes = (client: Client): string[] => client.server.books.events.map(({ type }) => type);

test('an eCheck is pending until it completes', async () => {
  const client = paypal();
  const id = await client.captured('echeck');
  expect(await captureOf(client, id)).toMatchObject({ status: 'PENDING', status_details: { reason: 'ECHECK' } });
  expect((await captureOf(client, id)).seller_receivable_breakdown.paypal_fee).toBeUndefined();
  expect(client.server.books.money()).toEqual({});
  expect(refusal(await client.refund(id))).toContain('PENDING_CAPTURE');

  await client.command(`/captures/${id}/complete`);
  const done = await captureOf(client, id);
  expect([done.status, done.status_details, done.seller_receivable_breakdown.paypal_fee]).toEqual([
    'COMPLETED',
    undefined,
    USD('1.33'),
  ]);
  expect(eventTypes(client)).toEqual([
    'CHECKOUT.ORDER.APPROVED',
    'PAYMENT.CAPTURE.PENDING',
    'PAYMENT.CAPTURE.COMPLETED',
  ]);
  expect((await client.command(`/captures/${id}/deny`)).status).toBe(409);
});

test('a pending eCheck can be denied', async () => {
  const client = paypal();
  const id = await client.captured('echeck');
  await client.command(`/captures/${id}/deny`);
  expect((await captureOf(client, id)).status).toBe('DECLINED');
  expect(eventTypes(client).at(-1)).toBe('PAYMENT.CAPTURE.DENIED');
  expect(client.server.books.money()).toEqual({});
  expect(refusal(await client.refund(id))).toContain('REFUND_NOT_ALLOWED');
});

test('immediate payment excludes eChecks but not payments pending review', async () => {
  const client = paypal();
  const id = await client.newOrder({}, { payment_method_preference: 'IMMEDIATE_PAYMENT_REQUIRED' });
  await client.command(`/orders/${id}/echeck`);
  const { body } = await client.capture(id);
  expect(body.purchase_units[0].payments.captures[0].status_details.reason).toBe('PENDING_REVIEW');
});

test('a full refund returns the whole amount and PayPal keeps its fee', async () => {
  const client = paypal();
  const id = await client.captured();
  const answer = await client.refund(id, { note_to_payer: 'Sorry to see you go' });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({
    status: 'COMPLETED',
    amount: USD('24.00'),
    note_to_payer: 'Sorry to see you go',
  });
  expect(answer.body.links.find(({ rel }: Json) => rel === 'up').href).toMatch(
    new RegExp(`/v2/payments/captures/${id}$`),
  );
  expect((await client.get(`/v2/payments/refunds/${answer.body.id}`)).body).toEqual(answer.body);
  expect((await captureOf(client, id)).status).toBe('REFUNDED');
  expect(client.server.books.money()['USD']).toEqual({
    captured: 2400,
    fees: 133,
    refunded: 2400,
    reversed: 0,
    balance: -133,
  });
  expect(refusal(await client.refund(id))).toContain('CAPTURE_FULLY_REFUNDED');
});

test('refunds in parts, up to the remaining amount', async () => {
  const client = paypal();
  const id = await client.captured();
  await client.refund(id, { amount: USD('10.00') });
  expect((await captureOf(client, id)).status).toBe('PARTIALLY_REFUNDED');
  expect(refusal(await client.refund(id, { amount: USD('14.01') }))).toContain('REFUND_AMOUNT_EXCEEDED');
  expect(refusal(await client.refund(id, { amount: { currency_code: 'EUR', value: '1.00' } }))).toContain(
    'CURRENCY_MISMATCH',
  );
  expect(refusal(await client.refund(id, { amount: USD('0.00') }))).toContain('CANNOT_BE_ZERO_OR_NEGATIVE');
  const rest = await client.refund(id);
  expect(rest.body.amount).toEqual(USD('14.00'));
  expect(rest.body.seller_payable_breakdown.total_refunded_amount).toEqual(USD('24.00'));
  const { orders } = (await client.get('/__simulator/state')).body;
  expect(orders[0].purchase_units[0].payments.refunds).toHaveLength(2);
});

test('the same request id refunds once, for 45 days', async () => {
  const client = paypal();
  const id = await client.captured();
  const body = { amount: USD('10.00') };
  const first = await client.refund(id, body, { id: 'back' });
  client.server.control.advance(45 * DAY_MS - 1);
  await client.signIn();
  const again = await client.refund(id, body, { id: 'back' });
  expect([again.status, again.text]).toEqual([200, first.text]);
  client.server.control.advance(1);
  expect((await client.refund(id, body, { id: 'back' })).status).toBe(201);
});

test('rejects a refund more than 180 days after the capture', async () => {
  const client = paypal();
  const [inTime, tooLate] = [await client.captured(), await client.captured()];
  client.server.control.advance(180 * DAY_MS);
  await client.signIn();
  expect((await client.refund(inTime)).status).toBe(201);
  client.server.control.advance(1);
  expect(refusal(await client.refund(tooLate))).toContain('REFUND_TIME_LIMIT_EXCEEDED');
});

test('a pending refund can complete or fail', async () => {
  const client = paypal();
  const id = await client.captured();
  await client.command('/refunds/next', { status: 'PENDING' });
  const failing = (await client.refund(id)).body;
  expect([failing.status, failing.status_details.reason]).toEqual(['PENDING', 'ECHECK']);
  expect(eventTypes(client)).not.toContain('PAYMENT.CAPTURE.REFUNDED');
  await client.command(`/refunds/${failing.id}/fail`);
  expect((await captureOf(client, id)).status).toBe('COMPLETED');
  const coming = (await client.refund(id)).body;
  await client.command(`/refunds/${coming.id}/complete`);
  expect((await client.get(`/v2/payments/refunds/${coming.id}`)).body.status).toBe('COMPLETED');
  expect(eventTypes(client).at(-1)).toBe('PAYMENT.CAPTURE.REFUNDED');
});

test('a bank reverses a capture', async () => {
  const client = paypal();
  const id = await client.captured();
  await client.command(`/captures/${id}/reverse`);
  expect(await captureOf(client, id)).toMatchObject({ status: 'REFUNDED', status_details: { reason: 'CHARGEBACK' } });
  const event = client.server.books.events.at(-1)!;
  expect(event.type).toBe('PAYMENT.CAPTURE.REVERSED');
  const { resource } = JSON.parse(event.body);
  expect(resource.links.find(({ rel }: Json) => rel === 'up').href).toMatch(new RegExp(`/captures/${id}$`));
  expect(client.server.books.money()['USD']).toMatchObject({ refunded: 0, reversed: 2400 });
  expect(refusal(await client.refund(id))).toContain('REFUND_NOT_PERMITTED_DUE_TO_CHARGEBACK');
});

test('a dispute moves no money and prevents partial refunds', async () => {
  const client = paypal();
  const id = await client.captured();
  await client.command(`/captures/${id}/dispute`);
  const event = client.server.books.events.at(-1)!;
  expect(event.type).toBe('CUSTOMER.DISPUTE.CREATED');
  expect(JSON.parse(event.body).resource.disputed_transactions[0].seller_transaction_id).toBe(id);
  expect((await captureOf(client, id)).status).toBe('COMPLETED');
  expect(refusal(await client.refund(id, { amount: USD('1.00') }))).toContain('TRANSACTION_DISPUTED');
  expect((await client.refund(id)).status).toBe(201);
});

test('does not find captures and refunds of another client', async () => {
  const client = paypal();
  const id = await client.captured();
  const refund = (await client.refund(id, { amount: USD('1.00') })).body.id as string;
  await client.signIn('other-client', 'other-secret');
  for (const path of [`/v2/payments/captures/${id}`, `/v2/payments/refunds/${refund}`])
    expect((await client.get(path)).status).toBe(404);
  expect((await client.refund(id)).status).toBe(404);
});

test('faults apply to matching requests, a limited number of times, in the order of the queue', async () => {
  const client = paypal();
  await client.command('/fail', { method: 'POST', path: '/orders$', issue: 'PAYEE_ACCOUNT_RESTRICTED' });
  await client.command('/fail', { path: '/orders$', status: 503, retryAfter: 7, times: 2 });
  expect((await client.get('/v2/checkout/orders/X')).status).toBe(404);
  expect(refusal(await client.create())).toEqual([422, 'UNPROCESSABLE_ENTITY', 'PAYEE_ACCOUNT_RESTRICTED']);
  const busy = await client.create();
  expect([busy.status, busy.body.name, busy.headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '7']);
  expect((await client.create()).status).toBe(503);
  expect((await client.create()).status).toBe(201);
  expect(client.server.books.orders.size).toBe(1);
});

test.each([
  ['html', 'text/html', (text: string) => text.startsWith('<html>')],
  ['empty', 'application/json', (text: string) => text === ''],
  ['truncated', 'application/json', (text: string) => text.startsWith('{"') && !text.endsWith('}')],
] as const)('an answer may be %s although the work was done', async (body, type, fits) => {
  const client = paypal();
  await client.command('/fail', { path: '/orders$', body });
  const answer = await client.create();
  expect([answer.status, answer.headers.get('content-type'), fits(answer.text)]).toEqual([201, type, true]);
  expect(client.server.books.orders.size).toBe(1);
});

test('a failing gateway responds with HTML and does no work', async () => {
  const client = paypal();
  await client.command('/fail', { path: '/orders$', status: 502, body: 'html' });
  expect(await client.create()).toMatchObject({ status: 502, body: null });
  expect(client.server.books.orders.size).toBe(0);
});

test('the connection breaks before the work, or after it', async () => {
  const client = paypal();
  const id = await client.approved();
  await client.command('/fail', { path: '/capture$', drop: true });
  await client.command('/fail', { path: '/capture$', dropAfterWork: true });
  await expect(client.capture(id, { id: 'cap' })).rejects.toThrow('fetch failed');
  expect(client.server.books.captures.size).toBe(0);
  await expect(client.capture(id, { id: 'cap' })).rejects.toThrow('fetch failed');
  expect(client.server.books.captures.size).toBe(1);
  const asked = await client.capture(id, { id: 'cap' });
  expect([asked.status, client.server.books.captures.size]).toEqual([200, 1]);
});

test('rejects a request id that is in progress', async () => {
  const client = paypal();
  const { control } = client.server;
  const id = await client.approved();
  control.fail({ path: '/capture$', hold: 'after' });
  const first = client.capture(id, { id: 'cap' });
  await control.whenHeld();
  // The capture is done, but its response is held.
  expect(client.server.books.captures.size).toBe(1);
  expect(refusal(await client.capture(id, { id: 'cap' }))).toEqual([
    409,
    'RESOURCE_CONFLICT',
    'PREVIOUS_REQUEST_IN_PROGRESS',
  ]);
  expect(refusal(await client.capture(id))).toContain('ORDER_ALREADY_CAPTURED');
  expect((await client.command('/release')).body).toEqual({ released: 1 });
  expect((await first).status).toBe(201);
  expect((await client.capture(id, { id: 'cap' })).status).toBe(200);
});

test('the work of a delayed request is done after the caller has aborted', async () => {
  const client = paypal();
  const id = await client.approved();
  client.server.control.fail({ path: '/capture$', hold: 'before' });
  const left = new AbortController();
  const asked = fetch(`${client.server.url}/v2/checkout/orders/${id}/capture`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${client.token}`,
      'Content-Type': 'application/json',
      'PayPal-Request-Id': 'cap',
    },
    signal: left.signal,
  });
  await client.server.control.whenHeld();
  left.abort();
  await expect(asked).rejects.toThrow('aborted');
  client.server.control.release();
  await expect.poll(() => client.server.books.captures.size).toBe(1);
});

test('the simulator records requests, and a reset clears everything', async () => {
  const client = paypal();
  await client.create(createOrderBody(), { id: 'mine' });
  const entries = (await client.get('/__simulator/requests')).body;
  expect(entries.at(-1)).toMatchObject({ method: 'POST', path: '/v2/checkout/orders', requestId: 'mine', status: 201 });
  expect(JSON.parse(entries.at(-1).body)).toEqual(createOrderBody());
  await client.command('/fail', { status: 500 });
  await client.command('/reset');
  const state = (await client.get('/__simulator/state')).body;
  expect([state.orders, state.captures, state.refunds, state.faults, state.money]).toEqual([[], [], [], [], {}]);
  expect((await client.get('/__simulator/requests')).body).toEqual([]);
});

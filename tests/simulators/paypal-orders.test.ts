/** The PayPal simulator's orders (docs/specification/providers.md 1, 2 and 4), over HTTP. */
import { expect, test } from 'vitest';
import {
  DAY_MS,
  HOUR_MS,
  createOrderBody,
  usePaypalClient,
  PUBLIC_URL,
  refusal,
  USD,
  type Json,
} from './paypal-client.ts';

const paypal = usePaypalClient();

test('issues a token only for valid client credentials', async () => {
  const given = await paypal().signIn();
  expect(given.status).toBe(200);
  expect(given.body).toMatchObject({ token_type: 'Bearer', expires_in: 32_400, access_token: expect.any(String) });
  for (const [id, secret] of [
    ['sandbox-client', 'wrong'],
    ['nobody', 'sandbox-secret'],
  ]) {
    const refused = await paypal().signIn(id, secret);
    expect(refused.status).toBe(401);
    expect(refused.body).toEqual({ error: 'invalid_client', error_description: 'Client Authentication failed' });
  }
});

test('rejects a missing, expired or revoked token', async () => {
  const client = paypal();
  const orderId = await client.newOrder();
  const readStatus = (): Promise<number> => client.get(`/v2/checkout/orders/${orderId}`).then(({ status }) => status);
  expect(await readStatus()).toBe(200);
  client.server.control.advance(32_400_000);
  expect(await readStatus()).toBe(401);
  client.server.control.reset();
  await client.signIn();
  await client.command('/tokens/expire');
  const refused = await client.get('/v2/checkout/orders/X');
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_token']);
});

test('every response has a debug id, and an error repeats it in its body', async () => {
  const client = paypal();
  const good = await client.create();
  const bad = await client.create({});
  expect(good.headers.get('paypal-debug-id')).toMatch(/^[0-9a-f]{13}$/);
  expect(bad.body.debug_id).toBe(bad.headers.get('paypal-debug-id'));
  expect(bad.body.debug_id).not.toBe(good.headers.get('paypal-debug-id'));
});

test('a new order waits for its payer and links to the approval page on the product’s origin', async () => {
  const { status, body } = await paypal().create();
  expect(status).toBe(201);
  expect(body.id).toMatch(/^[A-Z0-9]{17}$/);
  expect(body.status).toBe('PAYER_ACTION_REQUIRED');
  expect(body.links.map(({ rel, method }: Json) => [rel, method])).toEqual([
    ['self', 'GET'],
    ['payer-action', 'GET'],
  ]);
  expect(body.links[1].href).toBe(`${PUBLIC_URL}/sandbox/paypal/checkoutnow?token=${body.id}`);
  // The minimal representation is the default.
  expect(body.purchase_units).toBeUndefined();
  const whole = await paypal().create(createOrderBody(), { headers: { Prefer: 'return=representation' } });
  expect(whole.body.purchase_units[0]).toMatchObject({
    amount: USD('24.00'),
    custom_id: 'payment-1',
    reference_id: 'default',
  });
});

test('an order without a payment source has an approve link', async () => {
  const { payment_source: source, ...body } = createOrderBody();
  const answer = await paypal().create({ ...body, application_context: source.paypal.experience_context });
  expect(answer.body.status).toBe('CREATED');
  expect(answer.body.links.map(({ rel }: Json) => rel)).toEqual(['self', 'approve', 'update', 'capture']);
});

test('an order with a payment source requires a request id', async () => {
  const answer = await paypal().send('POST', '/v2/checkout/orders', { body: createOrderBody() });
  expect(refusal(answer)).toEqual([400, 'INVALID_REQUEST', 'PAYPAL_REQUEST_ID_REQUIRED']);
});

const long = (length: number): string => 'x'.repeat(length);

test.each<[string, Json, string[]]>([
  ['nothing', {}, ['MISSING_REQUIRED_PARAMETER', 'MISSING_REQUIRED_PARAMETER']],
  ['no intent', { ...createOrderBody(), intent: undefined }, ['MISSING_REQUIRED_PARAMETER']],
  ['another intent', { ...createOrderBody(), intent: 'GIVE' }, ['INVALID_PARAMETER_VALUE']],
  ['no units', { ...createOrderBody(), purchase_units: [] }, ['INVALID_ARRAY_MIN_ITEMS']],
  ['two units', { ...createOrderBody(), purchase_units: [{}, {}] }, ['INVALID_ARRAY_MAX_ITEMS']],
  [
    'no amount',
    createOrderBody({ amount: undefined }),
    ['MISSING_REQUIRED_PARAMETER', 'MISSING_REQUIRED_PARAMETER', 'MISSING_REQUIRED_PARAMETER'],
  ],
  [
    'a number for an amount',
    createOrderBody({ amount: { currency_code: 'USD', value: 24 } }),
    ['INVALID_PARAMETER_SYNTAX'],
  ],
  ['words for an amount', createOrderBody({ amount: USD('a lot') }), ['INVALID_PARAMETER_SYNTAX']],
  ['a custom id of 128', createOrderBody({ custom_id: long(128) }), ['INVALID_STRING_LENGTH']],
  ['an invoice id of 128', createOrderBody({ invoice_id: long(128) }), ['INVALID_STRING_LENGTH']],
  ['a description of 128', createOrderBody({ description: long(128) }), ['INVALID_STRING_LENGTH']],
  ['a soft descriptor of 23', createOrderBody({ soft_descriptor: long(23) }), ['INVALID_STRING_LENGTH']],
  ['a reference of 257', createOrderBody({ reference_id: long(257) }), ['INVALID_STRING_LENGTH']],
  ['a brand of 128', createOrderBody({}, { brand_name: long(128) }), ['INVALID_STRING_LENGTH']],
  ['no address to return to', createOrderBody({}, { return_url: 'journal' }), ['INVALID_PARAMETER_SYNTAX']],
  ['another user action', createOrderBody({}, { user_action: 'PAY_LATER' }), ['INVALID_PARAMETER_VALUE']],
])('rejects %s', async (_, body, issues) => {
  expect(refusal(await paypal().create(body))).toEqual([400, 'INVALID_REQUEST', ...issues]);
});

test('rejects invalid JSON and other content types', async () => {
  expect(refusal(await paypal().create('{"intent":'))).toEqual([400, 'INVALID_REQUEST', 'MALFORMED_REQUEST_JSON']);
  const plain = await paypal().create(createOrderBody(), { headers: { 'Content-Type': 'text/plain' } });
  expect(plain.status).toBe(415);
});

test.each([
  ['JPY', '24.50', 'DECIMALS_NOT_SUPPORTED'],
  ['USD', '24.001', 'DECIMAL_PRECISION'],
  ['USD', '0.00', 'CANNOT_BE_ZERO_OR_NEGATIVE'],
  ['USD', '-1.00', 'CANNOT_BE_ZERO_OR_NEGATIVE'],
  ['XXX', '24.00', 'INVALID_CURRENCY_CODE'],
])('rejects %s %s with %s', async (currency, value, issue) => {
  const answer = await paypal().create(createOrderBody({ amount: { currency_code: currency, value } }));
  expect(refusal(answer)).toEqual([422, 'UNPROCESSABLE_ENTITY', issue]);
});

test('rejects a breakdown that does not sum to the amount', async () => {
  const amount = (item: string): Json => ({ ...USD('24.00'), breakdown: { item_total: USD(item) } });
  expect(refusal(await paypal().create(createOrderBody({ amount: amount('23.00') })))).toContain('AMOUNT_MISMATCH');
  expect((await paypal().create(createOrderBody({ amount: amount('24.00') }))).status).toBe(201);
});

test('the same request id returns the same order for six hours, then a new one', async () => {
  const client = paypal();
  const first = await client.create(createOrderBody(), { id: 'mine' });
  client.server.control.advance(6 * HOUR_MS - 1);
  const again = await client.create(createOrderBody(), { id: 'mine' });
  expect([again.status, again.text]).toEqual([200, first.text]);
  client.server.control.advance(1);
  const later = await client.create(createOrderBody(), { id: 'mine' });
  expect(later.status).toBe(201);
  expect(later.body.id).not.toBe(first.body.id);
});

test('a rejected request can be retried with the same request id', async () => {
  const client = paypal();
  expect((await client.create({}, { id: 'mine' })).status).toBe(400);
  expect((await client.create(createOrderBody(), { id: 'mine' })).status).toBe(201);
});

test('an order expires three hours after its creation', async () => {
  const client = paypal();
  const id = await client.newOrder();
  client.server.control.advance(3 * HOUR_MS - 1);
  expect((await client.get(`/v2/checkout/orders/${id}`)).status).toBe(200);
  client.server.control.advance(1);
  expect(refusal(await client.get(`/v2/checkout/orders/${id}`))).toEqual([
    404,
    'RESOURCE_NOT_FOUND',
    'INVALID_RESOURCE_ID',
  ]);
  expect((await client.capture(id)).status).toBe(404);
});

test('an order expires three hours after the redirect, and an unused approval is reversed', async () => {
  const client = paypal();
  const id = await client.newOrder();
  client.server.control.advance(2 * HOUR_MS);
  await client.command(`/orders/${id}/approve`);
  client.server.control.advance(3 * HOUR_MS - 1);
  expect((await client.get(`/v2/checkout/orders/${id}`)).body.status).toBe('APPROVED');
  client.server.control.advance(1);
  expect((await client.get(`/v2/checkout/orders/${id}`)).body.status).toBe('VOIDED');
  expect((await client.capture(id)).status).toBe(404);
  const last = client.server.books.events.at(-1)!;
  expect(last.type).toBe('CHECKOUT.PAYMENT-APPROVAL.REVERSED');
  expect(JSON.parse(last.body).resource).toMatchObject({ order_id: id, purchase_units: [{ custom_id: 'payment-1' }] });
});

test('does not find an unknown order or another client’s order', async () => {
  const client = paypal();
  const id = await client.approved();
  await client.signIn('other-client', 'other-secret');
  for (const path of [`/v2/checkout/orders/${id}`, '/v2/checkout/orders/5O190127TN364715T', '/v2/nothing'])
    expect(refusal(await client.get(path))).toEqual([404, 'RESOURCE_NOT_FOUND', 'INVALID_RESOURCE_ID']);
  expect((await client.capture(id)).status).toBe(404);
});

test('rejects the capture of an order that is not approved', async () => {
  const client = paypal();
  const id = await client.newOrder();
  expect(refusal(await client.capture(id))).toEqual([422, 'UNPROCESSABLE_ENTITY', 'ORDER_NOT_APPROVED']);
  expect((await client.get(`/v2/checkout/orders/${id}`)).body.status).toBe('PAYER_ACTION_REQUIRED');
  expect(client.server.books.money()).toEqual({});
});

test('a capture reports the gross amount, the fee and the net amount', async () => {
  const client = paypal();
  const id = await client.approved();
  const answer = await client.capture(id);
  expect(answer.status).toBe(201);
  expect(answer.body.status).toBe('COMPLETED');
  expect(answer.body.payer.payer_id).toMatch(/^[A-Z0-9]{13}$/);
  const capture = answer.body.purchase_units[0].payments.captures[0];
  expect(capture).toMatchObject({
    status: 'COMPLETED',
    amount: USD('24.00'),
    custom_id: 'payment-1',
    final_capture: true,
    seller_receivable_breakdown: { gross_amount: USD('24.00'), paypal_fee: USD('1.33'), net_amount: USD('22.67') },
    supplementary_data: { related_ids: { order_id: id } },
  });
  expect(capture.id).toMatch(/^[A-Z0-9]{17}$/);
  expect(capture.links.map(({ rel }: Json) => rel)).toEqual(['self', 'refund', 'up']);
  expect((await client.get(`/v2/payments/captures/${capture.id}`)).body).toEqual(capture);
  expect((await client.get(`/v2/checkout/orders/${id}`)).body).toEqual(answer.body);
});

test('the same request id captures once, and another one gets ORDER_ALREADY_CAPTURED', async () => {
  const client = paypal();
  const id = await client.approved();
  const first = await client.capture(id, { id: 'cap' });
  const again = await client.capture(id, { id: 'cap' });
  expect([first.status, again.status, again.text]).toEqual([201, 200, first.text]);
  expect(refusal(await client.capture(id))).toEqual([422, 'UNPROCESSABLE_ENTITY', 'ORDER_ALREADY_CAPTURED']);
  client.server.control.advance(6 * HOUR_MS);
  expect(refusal(await client.capture(id, { id: 'cap' }))).toContain('ORDER_ALREADY_CAPTURED');
  expect(client.server.books.money()['USD']!.captured).toBe(2400);
});

test('a declined instrument leaves the order open and redirects the payer to the approval page', async () => {
  const client = paypal();
  const id = await client.approved('decline');
  const refused = await client.capture(id, { id: 'cap' });
  expect(refusal(refused)).toEqual([422, 'UNPROCESSABLE_ENTITY', 'INSTRUMENT_DECLINED']);
  expect(refused.body.links).toContainEqual({
    href: `${PUBLIC_URL}/sandbox/paypal/checkoutnow?token=${id}`,
    rel: 'redirect',
    method: 'GET',
  });
  expect((await client.get(`/v2/checkout/orders/${id}`)).body.status).toBe('PAYER_ACTION_REQUIRED');
  await client.command(`/orders/${id}/approve`);
  expect((await client.capture(id, { id: 'cap' })).status).toBe(201);
});

test('an order can be completed with a declined capture', async () => {
  const client = paypal();
  const id = await client.newOrder();
  await client.command(`/orders/${id}/approve`, { way: 'declined-capture' });
  const { body } = await client.capture(id);
  expect([body.status, body.purchase_units[0].payments.captures[0].status]).toEqual(['COMPLETED', 'DECLINED']);
  expect(client.server.books.money()).toEqual({});
});

test('rejects a duplicate invoice id of the same client', async () => {
  const client = paypal();
  await client.captured('approve', { invoice_id: 'invoice-1' });
  const second = await client.approved('approve', { invoice_id: 'invoice-1' });
  expect(refusal(await client.capture(second))).toContain('DUPLICATE_INVOICE_ID');
  const other = await client.approved('approve', { invoice_id: 'invoice-2' });
  expect((await client.capture(other)).status).toBe(201);
});

test('rejects a request id of more than 108 characters', async () => {
  expect((await paypal().create(createOrderBody(), { id: long(108) })).status).toBe(201);
  expect(refusal(await paypal().create(createOrderBody(), { id: long(109) }))).toContain('INVALID_STRING_LENGTH');
});

test('PayPal-Mock-Response forces an issue without side effects', async () => {
  const client = paypal();
  const id = await client.approved();
  const headers = { 'PayPal-Mock-Response': '{"mock_application_codes":"INSTRUMENT_DECLINED"}' };
  expect(refusal(await client.capture(id, { headers }))).toEqual([422, 'UNPROCESSABLE_ENTITY', 'INSTRUMENT_DECLINED']);
  expect((await client.get(`/v2/checkout/orders/${id}`)).body.status).toBe('APPROVED');
});

test('PayPal’s clock only moves on command', async () => {
  const client = paypal();
  const before = client.server.control.now().getTime();
  const { body } = await client.command('/clock', { advanceMs: DAY_MS });
  expect(Date.parse(body.now) - before).toBe(DAY_MS);
});

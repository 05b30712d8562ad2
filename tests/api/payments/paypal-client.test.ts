/** The PayPal client against servers that misbehave in ways the simulator does not. */
import { afterEach, describe, expect, test } from 'vitest';
import { createPaypal, type PaypalDeps } from '#server/payments/paypal/paypal-client.ts';
import { PaypalError } from '#server/payments/paypal/paypal.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { answer, startStubServer, type StubHandler, type StubRequest } from '../../support/stub-server.ts';

const TOKEN = { access_token: 'A21-token', token_type: 'Bearer', expires_in: 32400 };
const ORDER_ID = '5O190127TN364715T';
const ORDER = {
  id: ORDER_ID,
  status: 'COMPLETED',
  purchase_units: [
    {
      amount: { currency_code: 'USD', value: '24.00' },
      payments: { captures: [{ id: 'CAP1', status: 'COMPLETED', amount: { currency_code: 'USD', value: '24.00' } }] },
    },
  ],
};
const NEW_ORDER = {
  paymentId: '3f6f4b0e-0000-4000-8000-000000000001',
  amountMinor: 2400,
  currency: 'USD',
  returnUrl: 'http://localhost:3000/journal?payment=success',
  cancelUrl: 'http://localhost:3000/journal?payment=cancelled',
};

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** `answers` are used in order, the last one repeatedly. A token is granted unless `token` overrides it. */
async function createWorld(
  answers: StubHandler[],
  { token, ...options }: Partial<PaypalDeps> & { token?: StubHandler } = {},
) {
  let next = 0;
  const server = await startStubServer((request, response) => {
    if (request.path === '/v1/oauth2/token') {
      if (token) token(request, response);
      else answer(response, 200, TOKEN);
      return;
    }
    answers[Math.min(next, answers.length - 1)]!(request, response);
    next += 1;
  });
  open.push(server.close);
  const waits: number[] = [];
  const lines: unknown[] = [];
  const clock = { ahead: 0, now: () => new Date(Date.now() + clock.ahead) };
  const paypal = createPaypal({
    config: { apiBase: server.url, clientId: 'client', clientSecret: new Secret('hush-hush'), webhookId: null },
    clock,
    log: { info: (line: unknown) => void lines.push(line), warn: (line: unknown) => void lines.push(line) },
    pause: (ms) => Promise.resolve(waits.push(ms)),
    ...options,
  });
  const requestsTo = (path: string): StubRequest[] =>
    server.requests.filter((request) => request.path.startsWith(path));
  return { paypal, waits, lines, clock, requestsTo };
}

const expectFailure = async (promise: Promise<unknown>): Promise<PaypalError> => {
  const error: unknown = await promise.then(
    () => new Error('it worked'),
    (reason: unknown) => reason,
  );
  if (error instanceof PaypalError) return error;
  throw error;
};

const json =
  (status: number, body: unknown, headers?: Record<string, string>): StubHandler =>
  (_request, response) =>
    answer(response, status, body, headers);
const unprocessable = (issue: string): StubHandler =>
  json(422, { name: 'UNPROCESSABLE_ENTITY', message: 'm', debug_id: 'd1', details: [{ issue, description: 'd' }] });
const capture = { orderId: ORDER_ID, requestId: 'cap-1' };

describe('requests', () => {
  test('an order carries the payment id, immediate capture and no shipping', async () => {
    const approval = { href: 'https://www.paypal.com/checkoutnow?token=X', rel: 'payer-action', method: 'GET' };
    const { paypal, requestsTo } = await createWorld([
      json(201, { id: ORDER_ID, status: 'PAYER_ACTION_REQUIRED', links: [approval] }, { 'paypal-debug-id': 'dbg1' }),
    ]);
    expect(await paypal.createOrder(NEW_ORDER)).toEqual({
      orderId: ORDER_ID,
      approvalUrl: approval.href,
      debugId: 'dbg1',
    });
    const [sent] = requestsTo('/v2/checkout/orders');
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer A21-token',
      prefer: 'return=representation',
      'paypal-request-id': `order-${NEW_ORDER.paymentId}`,
      'content-type': 'application/json',
    });
    expect(JSON.parse(sent!.body)).toEqual({
      intent: 'CAPTURE',
      purchase_units: [
        {
          amount: { currency_code: 'USD', value: '24.00' },
          custom_id: NEW_ORDER.paymentId,
          invoice_id: NEW_ORDER.paymentId,
          description: 'Closer, one year',
        },
      ],
      payment_source: {
        paypal: {
          experience_context: {
            brand_name: 'Hustle Forge',
            shipping_preference: 'NO_SHIPPING',
            user_action: 'PAY_NOW',
            payment_method_preference: 'IMMEDIATE_PAYMENT_REQUIRED',
            return_url: NEW_ORDER.returnUrl,
            cancel_url: NEW_ORDER.cancelUrl,
          },
        },
      },
    });
  });

  test('send credentials only to the token endpoint, and log neither them nor the token nor a body', async () => {
    const { paypal, requestsTo, lines } = await createWorld([json(200, ORDER, { 'paypal-debug-id': 'dbg2' })]);
    await paypal.captureOrder(capture);
    expect(requestsTo('/v1/oauth2/token')[0]).toMatchObject({
      body: 'grant_type=client_credentials',
      headers: { authorization: `Basic ${Buffer.from('client:hush-hush').toString('base64')}` },
    });
    const written = JSON.stringify(lines);
    expect(written).toContain('dbg2');
    for (const secret of ['hush', 'A21-token', ORDER_ID, '24.00']) expect(written).not.toContain(secret);
  });

  test('a refund carries only its note and request id', async () => {
    const refund = { id: 'R1', status: 'COMPLETED', amount: { currency_code: 'USD', value: '24.00' } };
    const { paypal, requestsTo } = await createWorld([json(201, refund)]);
    expect(await paypal.refundCapture({ captureId: 'CAP1', requestId: 'refund-1', note: 'Cooling-off' })).toMatchObject(
      { id: 'R1', amountMinor: 2400 },
    );
    const [sent] = requestsTo('/v2/payments/captures/CAP1/refund');
    expect(sent).toMatchObject({
      body: '{"note_to_payer":"Cooling-off"}',
      headers: { 'paypal-request-id': 'refund-1' },
    });
  });

  test('never contain a malformed id in the path', async () => {
    const { paypal, requestsTo } = await createWorld([json(200, ORDER)]);
    for (const id of ['..', '../../payments', 'A/B', '', 'A?b', 'a'.repeat(65)]) {
      expect(await expectFailure(paypal.getOrder(id))).toMatchObject({ status: 404 });
    }
    expect(requestsTo('/v2')).toEqual([]);
  });
});

describe('the approval page', () => {
  const link = (href: string, rel = 'payer-action') =>
    json(201, { id: ORDER_ID, links: [{ href, rel, method: 'GET' }] });

  test('is the link "approve" in older answers', async () => {
    const { paypal } = await createWorld([link('https://www.paypal.com/checkoutnow?token=Y', 'approve')]);
    expect((await paypal.createOrder(NEW_ORDER)).approvalUrl).toBe('https://www.paypal.com/checkoutnow?token=Y');
  });

  test.each([
    'http://www.paypal.com/checkoutnow',
    'javascript:alert(1)',
    'https://user:word@www.paypal.com/',
    'data:text/html,x',
    '/checkoutnow',
  ])('is never %s', async (href) => {
    const { paypal } = await createWorld([link(href)]);
    expect(await expectFailure(paypal.createOrder(NEW_ORDER))).toMatchObject({
      name: 'MALFORMED_ANSWER',
      outcomeUnknown: true,
    });
  });

  test('may use plain http for a simulator on loopback', async () => {
    const { paypal } = await createWorld([link('http://localhost:3000/sandbox/paypal/checkoutnow?token=Z')]);
    expect((await paypal.createOrder(NEW_ORDER)).approvalUrl).toContain('localhost:3000');
  });
});

describe('the access token', () => {
  test('is fetched once for concurrent calls', async () => {
    const { paypal, requestsTo } = await createWorld([json(200, ORDER)]);
    await Promise.all(Array.from({ length: 8 }, () => paypal.getOrder(ORDER_ID)));
    expect(requestsTo('/v1/oauth2/token')).toHaveLength(1);
  });

  test('is renewed shortly before it expires', async () => {
    const { paypal, requestsTo, clock } = await createWorld([json(200, ORDER)]);
    await paypal.getOrder(ORDER_ID);
    clock.ahead = (32400 - 61) * 1000;
    await paypal.getOrder(ORDER_ID);
    expect(requestsTo('/v1/oauth2/token')).toHaveLength(1);
    clock.ahead = (32400 - 59) * 1000;
    await paypal.getOrder(ORDER_ID);
    expect(requestsTo('/v1/oauth2/token')).toHaveLength(2);
  });

  test('is replaced once when PayPal rejects it', async () => {
    const { paypal, requestsTo } = await createWorld([json(401, { error: 'invalid_token' }), json(200, ORDER)]);
    expect((await paypal.captureOrder(capture)).capture?.status).toBe('COMPLETED');
    expect(requestsTo('/v1/oauth2/token')).toHaveLength(2);
    expect(requestsTo('/v2').map((request) => request.headers['paypal-request-id'])).toEqual(['cap-1', 'cap-1']);
  });

  test('is not fetched repeatedly when PayPal rejects every one', async () => {
    const { paypal, requestsTo } = await createWorld([json(401, { error: 'invalid_token' })]);
    expect(await expectFailure(paypal.getOrder(ORDER_ID))).toMatchObject({ status: 401, name: 'invalid_token' });
    expect(requestsTo('/v1/oauth2/token')).toHaveLength(2);
    expect(requestsTo('/v2')).toHaveLength(2);
  });

  test('fails the call with a known outcome when it cannot be fetched', async () => {
    const refused = await createWorld([json(200, ORDER)], { token: json(401, { error: 'invalid_client' }) });
    expect(await expectFailure(refused.paypal.captureOrder(capture))).toMatchObject({
      status: 401,
      name: 'invalid_client',
      retryable: true,
      outcomeUnknown: false,
    });
    const silent = await createWorld([json(200, ORDER)], { token: (_request, response) => void response.destroy() });
    expect(await expectFailure(silent.paypal.captureOrder(capture))).toMatchObject({
      status: 0,
      outcomeUnknown: false,
    });
    expect(silent.requestsTo('/v2')).toEqual([]);
  });

  test.each([
    ['no value', { expires_in: 100 }],
    ['a line break', { access_token: 'a\nb', expires_in: 100 }],
    ['no expiry', { access_token: 'abc' }],
  ])('is not accepted with %s', async (_what, token) => {
    const { paypal } = await createWorld([json(200, ORDER)], { token: json(200, token) });
    expect(await expectFailure(paypal.getOrder(ORDER_ID))).toMatchObject({ name: 'MALFORMED_ANSWER' });
  });
});

describe('failures', () => {
  test.each(['ORDER_NOT_APPROVED', 'INSTRUMENT_DECLINED', 'PAYMENT_DENIED', 'SOMETHING_NEW'])(
    '%s is reported with its issue and not retried',
    async (issue) => {
      const { paypal, requestsTo } = await createWorld([unprocessable(issue)]);
      expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({
        status: 422,
        name: 'UNPROCESSABLE_ENTITY',
        issue,
        retryable: false,
        outcomeUnknown: false,
        debugId: 'd1',
      });
      expect(requestsTo('/v2')).toHaveLength(1);
    },
  );

  test('a gateway’s HTML page leaves the outcome unknown', async () => {
    const { paypal, requestsTo, waits } = await createWorld([json(502, '<html><h1>Bad Gateway</h1></html>')]);
    expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({
      status: 502,
      name: 'GATEWAY_FAILURE',
      retryable: true,
      outcomeUnknown: true,
    });
    expect(requestsTo('/v2').map((request) => request.headers['paypal-request-id'])).toEqual([
      'cap-1',
      'cap-1',
      'cap-1',
    ]);
    expect(waits.map((ms) => ms >= 300)).toEqual([true, true]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1200);
  });

  test('a retry with the same request id finds a capture whose response was lost', async () => {
    const { paypal, requestsTo } = await createWorld([
      (_request, response) => void response.destroy(),
      json(200, ORDER),
    ]);
    expect((await paypal.captureOrder(capture)).capture?.status).toBe('COMPLETED');
    expect(requestsTo('/v2').map((request) => request.headers['paypal-request-id'])).toEqual(['cap-1', 'cap-1']);
  });

  test('a lost response keeps the outcome unknown when the retry gets 429', async () => {
    const { paypal } = await createWorld([(_request, response) => void response.destroy(), json(429, {})]);
    expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({ status: 429, outcomeUnknown: true });
  });

  test.each([
    [
      'the same request',
      json(409, { name: 'RESOURCE_CONFLICT', details: [{ issue: 'PREVIOUS_REQUEST_IN_PROGRESS' }] }),
    ],
    ['another capture of the order', unprocessable('ORDER_COMPLETION_IN_PROGRESS')],
  ])('a call is retried with an unknown outcome while PayPal still processes %s', async (_what, inProgress) => {
    const busy = await createWorld([inProgress]);
    expect(await expectFailure(busy.paypal.captureOrder(capture))).toMatchObject({
      retryable: true,
      outcomeUnknown: true,
    });
    const done = await createWorld([inProgress, json(200, ORDER)]);
    expect((await done.paypal.captureOrder(capture)).capture?.status).toBe('COMPLETED');
  });

  test('a 429 alone leaves the outcome known', async () => {
    const { paypal } = await createWorld([json(429, { name: 'RATE_LIMIT_REACHED' })]);
    expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({
      name: 'RATE_LIMIT_REACHED',
      retryable: true,
      outcomeUnknown: false,
    });
  });

  test('a failed read never has an unknown outcome', async () => {
    const { paypal } = await createWorld([json(500, '')]);
    expect(await expectFailure(paypal.getCapture('CAP1'))).toMatchObject({ retryable: true, outcomeUnknown: false });
  });

  test.each([
    ['cut off', '{"id":"5O190127TN36'],
    ['empty', ''],
    ['without an amount', '{"id":"A","status":"COMPLETED","purchase_units":[]}'],
    ['no object', '[]'],
  ])('a success response that is %s leaves the outcome unknown', async (_what, body) => {
    const { paypal } = await createWorld([
      (_request, response) => answer(response, 201, body, { 'Content-Type': 'application/json' }),
    ]);
    expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({
      name: 'MALFORMED_ANSWER',
      retryable: true,
      outcomeUnknown: true,
    });
  });

  test('a truncated response leaves the outcome unknown', async () => {
    const { paypal } = await createWorld([
      (_request, response) => {
        response.writeHead(201, { 'Content-Length': '5000' });
        response.write('{"id":"5O', () => response.destroy());
      },
    ]);
    expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({
      name: 'NO_ANSWER',
      outcomeUnknown: true,
    });
  });

  test('an endless response is not read to its end', async () => {
    const { paypal } = await createWorld([
      (_request, response) => {
        response.writeHead(200);
        const more = (): void =>
          void (response.write('x'.repeat(64 * 1024)) ? setImmediate(more) : response.once('drain', more));
        more();
      },
    ]);
    expect(await expectFailure(paypal.getOrder(ORDER_ID))).toMatchObject({ name: 'NO_ANSWER', status: 0 });
  });

  test('a silent server hits the time limit', async () => {
    let tries = 0;
    const { paypal } = await createWorld([() => undefined], {
      tryMaxMs: 40,
      fetch(url, init) {
        // The token has no time limit, because a busy machine may take longer to answer.
        if (new Request(url).url.endsWith('/token')) return fetch(url, { ...init, signal: null });
        tries += 1;
        return fetch(url, init);
      },
    });
    expect(await expectFailure(paypal.captureOrder(capture))).toMatchObject({
      name: 'NO_ANSWER_IN_TIME',
      outcomeUnknown: true,
    });
    expect(tries).toBe(3);
  });

  test('a redirect is not followed, because it would receive the token', async () => {
    const elsewhere = await startStubServer((_request, response) => answer(response, 200, ORDER));
    open.push(elsewhere.close);
    const { paypal } = await createWorld([json(307, '', { Location: `${elsewhere.url}/v2` })]);
    expect(await expectFailure(paypal.getOrder(ORDER_ID))).toMatchObject({
      status: 307,
      name: 'REDIRECTED',
      retryable: false,
    });
    expect(elsewhere.requests).toEqual([]);
  });

  test('Retry-After is honoured', async () => {
    const { paypal, waits } = await createWorld([json(429, {}, { 'Retry-After': '2' }), json(200, ORDER)]);
    await paypal.getOrder(ORDER_ID);
    expect(waits).toEqual([2000]);
  });

  test('a Retry-After beyond the time limit is returned to the caller', async () => {
    const { paypal, waits, requestsTo } = await createWorld([json(503, '', { 'Retry-After': '120' })]);
    expect(await expectFailure(paypal.getOrder(ORDER_ID))).toMatchObject({ status: 503, retryAfterMs: 120_000 });
    expect([waits, requestsTo('/v2').length]).toEqual([[], 1]);
  });

  test('a malformed error name reaches neither the message nor the log', async () => {
    const { paypal, lines } = await createWorld([
      json(400, { name: 'ada@example.com paid', details: [{ issue: 'a b' }] }),
    ]);
    const error = await expectFailure(paypal.getOrder(ORDER_ID));
    expect(error).toMatchObject({ name: 'HTTP_400', issue: null });
    expect(JSON.stringify(lines) + error.message).not.toContain('ada@');
  });
});

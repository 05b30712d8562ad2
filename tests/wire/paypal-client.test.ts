/** The client of PayPal against servers that misbehave in ways in which a simulator would not. */
import { afterEach, describe, expect, test } from 'vitest';
import { createPaypal } from '#server/payments/paypal/paypal-client.ts';
import type { PaypalDeps } from '#server/payments/paypal/paypal-client.ts';
import { PaypalError } from '#server/payments/paypal/paypal.ts';
import { Secret } from '#server/secret.ts';
import { answer, startTinyServer } from '../support/tiny-server.ts';
import type { TinyHandler, TinyRequest } from '../support/tiny-server.ts';

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

/** `answers` are used one after another, the last one for all that follow; the token is given unless `token` says else. */
async function world(
  answers: TinyHandler[],
  { token, ...options }: Partial<PaypalDeps> & { token?: TinyHandler } = {},
) {
  let next = 0;
  const server = await startTinyServer((request, response) => {
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
    config: {
      apiBase: server.url,
      clientId: 'client',
      clientSecret: new Secret('hush-hush'),
      webhookId: null,
    },
    clock,
    log: { info: (line: unknown) => void lines.push(line), warn: (line: unknown) => void lines.push(line) },
    pause: (ms) => Promise.resolve(waits.push(ms)),
    ...options,
  });
  const asked = (path: string): TinyRequest[] => server.requests.filter((request) => request.path.startsWith(path));
  return { paypal, waits, lines, clock, asked };
}

const failure = async (promise: Promise<unknown>): Promise<PaypalError> => {
  const error: unknown = await promise.then(
    () => new Error('it worked'),
    (reason: unknown) => reason,
  );
  if (error instanceof PaypalError) return error;
  throw error;
};

const json =
  (status: number, body: unknown, headers?: Record<string, string>): TinyHandler =>
  (_request, response) =>
    answer(response, status, body, headers);
const unprocessable = (issue: string): TinyHandler =>
  json(422, { name: 'UNPROCESSABLE_ENTITY', message: 'm', debug_id: 'd1', details: [{ issue, description: 'd' }] });
const capture = { orderId: ORDER_ID, requestId: 'cap-1' };

describe('what is sent', () => {
  test('an order names the payment, takes money at once and asks for no address', async () => {
    const approval = { href: 'https://www.paypal.com/checkoutnow?token=X', rel: 'payer-action', method: 'GET' };
    const { paypal, asked } = await world([
      json(201, { id: ORDER_ID, status: 'PAYER_ACTION_REQUIRED', links: [approval] }, { 'paypal-debug-id': 'dbg1' }),
    ]);
    expect(await paypal.createOrder(NEW_ORDER)).toEqual({
      orderId: ORDER_ID,
      approvalUrl: approval.href,
      debugId: 'dbg1',
    });
    const [sent] = asked('/v2/checkout/orders');
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

  test('credentials go to the token alone, and neither they nor the token nor a body reach the log', async () => {
    const { paypal, asked, lines } = await world([json(200, ORDER, { 'paypal-debug-id': 'dbg2' })]);
    await paypal.captureOrder(capture);
    expect(asked('/v1/oauth2/token')[0]).toMatchObject({
      body: 'grant_type=client_credentials',
      headers: { authorization: `Basic ${Buffer.from('client:hush-hush').toString('base64')}` },
    });
    const written = JSON.stringify(lines);
    expect(written).toContain('dbg2');
    for (const secret of ['hush', 'A21-token', ORDER_ID, '24.00']) expect(written).not.toContain(secret);
  });

  test('a refund carries its note, its request id and nothing else', async () => {
    const refund = { id: 'R1', status: 'COMPLETED', amount: { currency_code: 'USD', value: '24.00' } };
    const { paypal, asked } = await world([json(201, refund)]);
    expect(await paypal.refundCapture({ captureId: 'CAP1', requestId: 'refund-1', note: 'Cooling-off' })).toMatchObject(
      {
        id: 'R1',
        amountMinor: 2400,
      },
    );
    const [sent] = asked('/v2/payments/captures/CAP1/refund');
    expect(sent).toMatchObject({
      body: '{"note_to_payer":"Cooling-off"}',
      headers: { 'paypal-request-id': 'refund-1' },
    });
  });

  test('a name that is no id never becomes part of an address', async () => {
    const { paypal, asked } = await world([json(200, ORDER)]);
    for (const id of ['..', '../../payments', 'A/B', '', 'A?b', 'a'.repeat(65)]) {
      expect(await failure(paypal.getOrder(id))).toMatchObject({ status: 404 });
    }
    expect(asked('/v2')).toEqual([]);
  });
});

describe('where the browser is sent', () => {
  const link = (href: string, rel = 'payer-action') =>
    json(201, { id: ORDER_ID, links: [{ href, rel, method: 'GET' }] });

  test('an older kind of answer calls the link "approve"', async () => {
    const { paypal } = await world([link('https://www.paypal.com/checkoutnow?token=Y', 'approve')]);
    expect((await paypal.createOrder(NEW_ORDER)).approvalUrl).toBe('https://www.paypal.com/checkoutnow?token=Y');
  });

  test.each([
    'http://www.paypal.com/checkoutnow',
    'javascript:alert(1)',
    'https://user:word@www.paypal.com/',
    'data:text/html,x',
    '/checkoutnow',
  ])('%s is not handed to it', async (href) => {
    const { paypal } = await world([link(href)]);
    expect(await failure(paypal.createOrder(NEW_ORDER))).toMatchObject({
      name: 'MALFORMED_ANSWER',
      outcomeUnknown: true,
    });
  });

  test('a simulator on this machine may use plain http on this machine', async () => {
    const { paypal } = await world([link('http://localhost:3000/sandbox/paypal/checkoutnow?token=Z')]);
    expect((await paypal.createOrder(NEW_ORDER)).approvalUrl).toContain('localhost:3000');
  });
});

describe('the access token', () => {
  test('is fetched once for calls that come together', async () => {
    const { paypal, asked } = await world([json(200, ORDER)]);
    await Promise.all(Array.from({ length: 8 }, () => paypal.getOrder(ORDER_ID)));
    expect(asked('/v1/oauth2/token')).toHaveLength(1);
  });

  test('is fetched anew shortly before it ends', async () => {
    const { paypal, asked, clock } = await world([json(200, ORDER)]);
    await paypal.getOrder(ORDER_ID);
    clock.ahead = (32400 - 61) * 1000;
    await paypal.getOrder(ORDER_ID);
    expect(asked('/v1/oauth2/token')).toHaveLength(1);
    clock.ahead = (32400 - 59) * 1000;
    await paypal.getOrder(ORDER_ID);
    expect(asked('/v1/oauth2/token')).toHaveLength(2);
  });

  test('that PayPal no longer takes is replaced once', async () => {
    const { paypal, asked } = await world([json(401, { error: 'invalid_token' }), json(200, ORDER)]);
    expect((await paypal.captureOrder(capture)).capture?.status).toBe('COMPLETED');
    expect(asked('/v1/oauth2/token')).toHaveLength(2);
    expect(asked('/v2').map((request) => request.headers['paypal-request-id'])).toEqual(['cap-1', 'cap-1']);
  });

  test('is not asked for again and again when PayPal refuses every one', async () => {
    const { paypal, asked } = await world([json(401, { error: 'invalid_token' })]);
    expect(await failure(paypal.getOrder(ORDER_ID))).toMatchObject({ status: 401, name: 'invalid_token' });
    expect(asked('/v1/oauth2/token')).toHaveLength(2);
    expect(asked('/v2')).toHaveLength(2);
  });

  test('that cannot be had fails the call, and no money is in doubt', async () => {
    const refused = await world([json(200, ORDER)], { token: json(401, { error: 'invalid_client' }) });
    expect(await failure(refused.paypal.captureOrder(capture))).toMatchObject({
      status: 401,
      name: 'invalid_client',
      retryable: true,
      outcomeUnknown: false,
    });
    const silent = await world([json(200, ORDER)], { token: (_request, response) => void response.destroy() });
    expect(await failure(silent.paypal.captureOrder(capture))).toMatchObject({ status: 0, outcomeUnknown: false });
    expect(silent.asked('/v2')).toEqual([]);
  });

  test.each([
    ['lacks', { expires_in: 100 }],
    ['would break a header', { access_token: 'a\nb', expires_in: 100 }],
    ['has no end', { access_token: 'abc' }],
  ])('that %s is no token', async (_what, token) => {
    const { paypal } = await world([json(200, ORDER)], { token: json(200, token) });
    expect(await failure(paypal.getOrder(ORDER_ID))).toMatchObject({ name: 'MALFORMED_ANSWER' });
  });
});

describe('failures', () => {
  test.each(['ORDER_NOT_APPROVED', 'INSTRUMENT_DECLINED', 'PAYMENT_DENIED', 'SOMETHING_NEW'])(
    '%s is told by its issue, once, and is final',
    async (issue) => {
      const { paypal, asked } = await world([unprocessable(issue)]);
      expect(await failure(paypal.captureOrder(capture))).toMatchObject({
        status: 422,
        name: 'UNPROCESSABLE_ENTITY',
        issue,
        retryable: false,
        outcomeUnknown: false,
        debugId: 'd1',
      });
      expect(asked('/v2')).toHaveLength(1);
    },
  );

  test('a gateway’s page is a failure that leaves open what happened', async () => {
    const { paypal, asked, waits } = await world([json(502, '<html><h1>Bad Gateway</h1></html>')]);
    expect(await failure(paypal.captureOrder(capture))).toMatchObject({
      status: 502,
      name: 'GATEWAY_FAILURE',
      retryable: true,
      outcomeUnknown: true,
    });
    expect(asked('/v2').map((request) => request.headers['paypal-request-id'])).toEqual(['cap-1', 'cap-1', 'cap-1']);
    expect(waits.map((ms) => ms >= 300)).toEqual([true, true]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1200);
  });

  test('money that was taken before the answer broke off is found by asking again with the same request id', async () => {
    const { paypal, asked } = await world([(_request, response) => void response.destroy(), json(200, ORDER)]);
    expect((await paypal.captureOrder(capture)).capture?.status).toBe('COMPLETED');
    expect(asked('/v2').map((request) => request.headers['paypal-request-id'])).toEqual(['cap-1', 'cap-1']);
  });

  test('a lost answer stays lost, although PayPal is only busy afterwards', async () => {
    const { paypal } = await world([(_request, response) => void response.destroy(), json(429, {})]);
    expect(await failure(paypal.captureOrder(capture))).toMatchObject({ status: 429, outcomeUnknown: true });
  });

  test.each([
    [
      'the same request',
      json(409, { name: 'RESOURCE_CONFLICT', details: [{ issue: 'PREVIOUS_REQUEST_IN_PROGRESS' }] }),
    ],
    ['another capture of the order', unprocessable('ORDER_COMPLETION_IN_PROGRESS')],
  ])('while PayPal is still at %s, the outcome is open and asked for again', async (_what, inProgress) => {
    const busy = await world([inProgress]);
    expect(await failure(busy.paypal.captureOrder(capture))).toMatchObject({ retryable: true, outcomeUnknown: true });
    const done = await world([inProgress, json(200, ORDER)]);
    expect((await done.paypal.captureOrder(capture)).capture?.status).toBe('COMPLETED');
  });

  test('being busy alone leaves nothing open', async () => {
    const { paypal } = await world([json(429, { name: 'RATE_LIMIT_REACHED' })]);
    expect(await failure(paypal.captureOrder(capture))).toMatchObject({
      name: 'RATE_LIMIT_REACHED',
      retryable: true,
      outcomeUnknown: false,
    });
  });

  test('reading leaves nothing open, whatever happens', async () => {
    const { paypal } = await world([json(500, '')]);
    expect(await failure(paypal.getCapture('CAP1'))).toMatchObject({ retryable: true, outcomeUnknown: false });
  });

  test.each([
    ['cut off', '{"id":"5O190127TN36'],
    ['empty', ''],
    ['without an amount', '{"id":"A","status":"COMPLETED","purchase_units":[]}'],
    ['no object', '[]'],
  ])('a yes that is %s leaves open what happened', async (_what, body) => {
    const { paypal } = await world([
      (_request, response) => answer(response, 201, body, { 'Content-Type': 'application/json' }),
    ]);
    expect(await failure(paypal.captureOrder(capture))).toMatchObject({
      name: 'MALFORMED_ANSWER',
      retryable: true,
      outcomeUnknown: true,
    });
  });

  test('an answer that stops in the middle is lost', async () => {
    const { paypal } = await world([
      (_request, response) => {
        response.writeHead(201, { 'Content-Length': '5000' });
        response.write('{"id":"5O', () => response.destroy());
      },
    ]);
    expect(await failure(paypal.captureOrder(capture))).toMatchObject({ name: 'NO_ANSWER', outcomeUnknown: true });
  });

  test('an answer without end is not read to its end', async () => {
    const { paypal } = await world([
      (_request, response) => {
        response.writeHead(200);
        const more = (): void =>
          void (response.write('x'.repeat(64 * 1024)) ? setImmediate(more) : response.once('drain', more));
        more();
      },
    ]);
    expect(await failure(paypal.getOrder(ORDER_ID))).toMatchObject({ name: 'NO_ANSWER', status: 0 });
  });

  test('silence ends at the time limit', async () => {
    const { paypal, asked } = await world([() => undefined], { tryMaxMs: 40 });
    expect(await failure(paypal.captureOrder(capture))).toMatchObject({
      name: 'NO_ANSWER_IN_TIME',
      outcomeUnknown: true,
    });
    expect(asked('/v2')).toHaveLength(3);
  });

  test('a redirect is not followed: it would take the token along', async () => {
    const elsewhere = await startTinyServer((_request, response) => answer(response, 200, ORDER));
    open.push(elsewhere.close);
    const { paypal } = await world([json(307, '', { Location: `${elsewhere.url}/v2` })]);
    expect(await failure(paypal.getOrder(ORDER_ID))).toMatchObject({
      status: 307,
      name: 'REDIRECTED',
      retryable: false,
    });
    expect(elsewhere.requests).toEqual([]);
  });

  test('PayPal says how long to wait', async () => {
    const { paypal, waits } = await world([json(429, {}, { 'Retry-After': '2' }), json(200, ORDER)]);
    await paypal.getOrder(ORDER_ID);
    expect(waits).toEqual([2000]);
  });

  test('a wait that would take too long is the caller’s to keep', async () => {
    const { paypal, waits, asked } = await world([json(503, '', { 'Retry-After': '120' })]);
    expect(await failure(paypal.getOrder(ORDER_ID))).toMatchObject({ status: 503, retryAfterMs: 120_000 });
    expect([waits, asked('/v2').length]).toEqual([[], 1]);
  });

  test('what is no name in an answer does not reach a message or the log', async () => {
    const { paypal, lines } = await world([json(400, { name: 'ada@example.com paid', details: [{ issue: 'a b' }] })]);
    const error = await failure(paypal.getOrder(ORDER_ID));
    expect(error).toMatchObject({ name: 'HTTP_400', issue: null });
    expect(JSON.stringify(lines) + error.message).not.toContain('ada@');
  });
});

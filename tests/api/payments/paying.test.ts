/** `paypal-create-order` and `paypal-capture-order` over the real server and PayPal's simulator. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { latestToday } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { extendPlan } from '#domain/payment/payment.ts';
import { createLog } from '#server/log.ts';
import { createPayments } from '#server/payments/payments.ts';
import { refundByOperator } from '#server/payments/refund-payment.ts';
import { startTestServer } from '../../support/start-server.ts';
import { request, signUp, type WireResponse, type Person } from '../data/fixture.ts';

let server: Awaited<ReturnType<typeof startTestServer>>;
let ana: Person;
let ben: Person;
let people = 0;
beforeAll(async () => {
  server = await startTestServer({ settings: { PAYMENT_BLOCKED_COUNTRIES: 'KP' }, logTo: { write: () => undefined } });
});
beforeEach(async () => {
  people += 1;
  [ana, ben] = await Promise.all([signUp(server, `ana${people}`), signUp(server, `ben${people}`)]);
});
afterAll(() => server.close());

const call = (person: Person | null, name: string, body: object): Promise<WireResponse> =>
  request(server, person, 'POST', `/functions/v1/${name}`, { body });
const create = (person: Person, change: object = {}): Promise<WireResponse> =>
  call(person, 'paypal-create-order', { amount: 24, currency: 'USD', user_id: person.id, ...change });
const capture = (person: Person, orderId: unknown): Promise<WireResponse> =>
  call(person, 'paypal-capture-order', { order_id: orderId, user_id: person.id });

async function order(person: Person): Promise<string> {
  const { status, json } = await create(person);
  expect(status).toBe(200);
  return new URL((json as { approval_url: string }).approval_url).searchParams.get('token')!;
}

async function planOf({ id }: Person): Promise<unknown> {
  const { rows } = await server.admin.query(
    `select subscription_plan as plan, access_valid_until as until,
            (select json_agg(reason order by plan_changes.id) from plan_changes where user_id = profiles.id) as reasons
       from profiles where id = $1`,
    [id],
  );
  return rows[0];
}
const FREE = { plan: 'free', until: null, reasons: null };
const paidYear = () => ({
  plan: 'premium',
  until: extendPlan(null, latestToday(server.clock.now())),
  reasons: ['payment'],
});

async function statusOf(orderId: string): Promise<string> {
  const { rows } = await server.admin.query<{ status: string }>('select status from payments where order_id = $1', [
    orderId,
  ]);
  return rows[0]!.status;
}

test('captures an approved order once and grants a year', async () => {
  const orderId = await order(ana);
  server.paypal.books.approve(orderId);
  expect(await capture(ana, orderId)).toMatchObject({ status: 200, json: { success: true } });
  expect(await planOf(ana)).toEqual(paidYear());
  expect(await capture(ana, orderId)).toMatchObject({ status: 200, json: { success: true } });
  expect(await planOf(ana)).toEqual(paidYear());
  const { data } = await ana.client.from('payments').select('order_id, amount_minor, currency, status');
  expect(data).toEqual([{ order_id: orderId, amount_minor: 2400, currency: 'USD', status: 'completed' }]);
});

test('counts a second year from the end of the first', async () => {
  for (let year = 1; year <= 2; year += 1) {
    const orderId = await order(ana);
    server.paypal.books.approve(orderId);
    await capture(ana, orderId);
  }
  const until = extendPlan(extendPlan(null, latestToday(server.clock.now())), latestToday(server.clock.now()));
  expect(await planOf(ana)).toEqual({ plan: 'premium', until, reasons: ['payment', 'payment'] });
});

test('grants one year for concurrent captures and repeated webhooks', async () => {
  const orderId = await order(ana);
  server.paypal.books.approve(orderId);
  const answers = await Promise.all([
    ...[1, 2, 3].map(() => capture(ana, orderId)),
    server.paypal.webhooks.deliverAll({ times: 2 }),
  ]);
  for (const answer of answers.slice(0, 3)) expect(answer).toMatchObject({ status: 200, json: { success: true } });
  expect(await planOf(ana)).toEqual(paidYear());
});

test('reuses the open order for every click, but not one whose approval page has expired', async () => {
  await server.admin.query(
    `insert into payments (user_id, amount_minor, currency, order_id, approval_url, created_at)
     values ($1, 2400, 'USD', $2, 'https://paypal.example/old', now() - interval '3 hours')`,
    [ana.id, `OLD${people}`],
  );
  const [first, again] = await Promise.all([order(ana), order(ana)]);
  expect(again).toBe(first);
  expect(await order(ana)).toBe(first);
  expect(server.paypal.books.orders.has(first)).toBe(true);
});

test('polls PayPal once for hundreds of concurrent requests about one payment', async () => {
  const orderId = await order(ana);
  const requestCount = (): number => server.paypal.control.requests().length;
  const before = requestCount();
  const answers = await Promise.all(Array.from({ length: 200 }, () => capture(ana, orderId)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([402]));
  expect(requestCount() - before).toBeLessThan(10);
});

describe('creating an order', () => {
  test('is limited to ten open payments of one user', async () => {
    const statuses: number[] = [];
    for (const letter of 'ABCDEFGHIJKLMN') {
      await ana.client
        .from('profiles')
        .update({ country: `A${letter}` })
        .eq('id', ana.id);
      statuses.push((await create(ana)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429, 429, 429]);
    expect((await create(ana)).headers.get('retry-after')).toBe('3600');
    // The open payment of the earlier country is reused, so the buyer can still pay.
    await ana.client.from('profiles').update({ country: 'AJ' }).eq('id', ana.id);
    expect((await create(ana)).status).toBe(200);
    // The open payments expire, and a new payment can be started.
    server.clock.advance(7 * 60 * 60_000);
    const payments = createPayments({ ...server, log: createLog('silent'), requestMails: () => undefined })!;
    await payments.reconcile(new AbortController().signal);
    expect(await payments.start(ana.id)).toMatchObject({ outcome: 'order' });
  });

  test.each([
    ['a lower price', { amount: 0.01 }, 400],
    ['a price in letters', { amount: 'twenty-four' }, 400],
    ['a price with too many decimals', { amount: '24.001' }, 400],
    ['another currency', { currency: 'VND' }, 400],
    ['no price', { amount: undefined }, 400],
    ['another user', { user_id: '00000000-0000-4000-8000-000000000001' }, 403],
    ['a missing user id', { user_id: undefined }, 403],
  ])('is rejected for %s', async (_case, change, status) => {
    expect(await create(ana, change)).toMatchObject({ status, json: { success: false, error: expect.any(String) } });
    const { rows } = await server.admin.query('select 1 from payments where user_id = $1', [ana.id]);
    expect(rows).toEqual([]);
  });

  test('accepts the price as a string', async () => {
    expect(await create(ana, { amount: '24.00' })).toMatchObject({ status: 200 });
  });

  test('is rejected for a blocked country and for an endless plan', async () => {
    await server.admin.query("update profiles set country = 'KP' where id = $1", [ana.id]);
    expect(await create(ana)).toMatchObject({ status: 403, json: { success: false } });
    await server.admin.query("update profiles set subscription_plan = 'premium' where id = $1", [ben.id]);
    expect(await create(ben)).toMatchObject({ status: 409, json: { success: false } });
  });

  test('is rejected while another payment is pending', async () => {
    const orderId = await order(ana);
    server.paypal.books.approve(orderId, 'echeck');
    expect(await capture(ana, orderId)).toMatchObject({ status: 200, json: { success: true, pending: true } });
    expect(await planOf(ana)).toEqual(FREE);
    expect(await create(ana)).toMatchObject({ status: 409, json: { error: MESSAGES.paymentPending } });
  });

  test('fails while PayPal is down, and works at the next click', async () => {
    server.paypal.control.fail({ path: '/v2/checkout/orders$', status: 503, times: 3 });
    expect(await create(ana)).toMatchObject({ status: 503, json: { success: false } });
    expect(await create(ana)).toMatchObject({ status: 200 });
  });
});

describe('capturing an order', () => {
  test.each(['5O190127TN364715', '5O190127TN364715TT', '5o190127tn364715t', '', null, 17, { a: 1 }])(
    'is rejected for the token %j',
    async (token) => {
      expect(await capture(ana, token)).toMatchObject({
        status: 400,
        json: { success: false, error: MESSAGES.paymentTokenInvalid },
      });
    },
  );

  test('is rejected for another user’s order and for an unknown one', async () => {
    const orderId = await order(ana);
    server.paypal.books.approve(orderId);
    const refused = { status: 404, json: { success: false, error: MESSAGES.paymentFailed } };
    expect(await capture(ben, orderId)).toMatchObject(refused);
    expect(await capture(ana, '5O190127TN364715T')).toMatchObject(refused);
    const forAna = await call(ben, 'paypal-capture-order', { order_id: orderId, user_id: ana.id });
    expect(forAna).toMatchObject({ status: 403, json: { success: false, error: MESSAGES.paymentFailed } });
    expect([await planOf(ana), await planOf(ben)]).toEqual([FREE, FREE]);
    expect(await statusOf(orderId)).toBe('created');
  });

  test('is rejected for a guest', async () => {
    expect((await call(null, 'paypal-capture-order', { order_id: '5O190127TN364715T' })).status).toBe(401);
  });

  test('before the approval returns the approval page', async () => {
    const orderId = await order(ana);
    expect(await capture(ana, orderId)).toMatchObject({
      status: 402,
      json: { success: false, error: MESSAGES.paymentFailed, approval_url: expect.stringContaining(orderId) },
    });
    expect(await planOf(ana)).toEqual(FREE);
  });

  test('is declined by the bank, and works for the same order with another card', async () => {
    const orderId = await order(ana);
    server.paypal.books.approve(orderId, 'bank-declines');
    expect(await capture(ana, orderId)).toMatchObject({ status: 402, json: { success: false } });
    expect(await planOf(ana)).toEqual(FREE);
    server.paypal.books.approve(orderId);
    expect(await capture(ana, orderId)).toMatchObject({ status: 200, json: { success: true } });
    expect(await planOf(ana)).toEqual(paidYear());
  });

  test('grants nothing for a completed order with a declined capture', async () => {
    const orderId = await order(ana);
    server.paypal.books.approve(orderId, 'declined-capture');
    expect(await capture(ana, orderId)).toMatchObject({ status: 409, json: { success: false } });
    expect([await planOf(ana), await statusOf(orderId)]).toEqual([FREE, 'declined']);
  });

  test('sets a payment aside for review when the amount at PayPal differs', async () => {
    const orderId = await order(ana);
    Object.assign(server.paypal.books.order(orderId), { amount: { currency: 'USD', minor: 1 } });
    server.paypal.books.approve(orderId);
    expect(await capture(ana, orderId)).toMatchObject({ status: 409, json: { error: MESSAGES.paymentFailed } });
    expect([await planOf(ana), await statusOf(orderId)]).toEqual([FREE, 'needs_review']);
    expect(server.paypal.books.order(orderId).capture).toBeNull();
  });
});

test('a refund at PayPal ends the year', async () => {
  const orderId = await order(ana);
  server.paypal.books.approve(orderId);
  await capture(ana, orderId);
  server.paypal.books.refundCapture(server.paypal.books.order(orderId).capture!.id);
  await server.paypal.webhooks.deliverAll();
  await expect.poll(() => statusOf(orderId)).toBe('refunded');
  expect(await planOf(ana)).toEqual({ plan: 'free', until: null, reasons: ['payment', 'refund'] });
});

test('the operator command refunds at once when PayPal is configured', async () => {
  await server.admin.query("update profiles set country = 'US' where id = $1", [ana.id]);
  const orderId = await order(ana);
  server.paypal.books.approve(orderId);
  await capture(ana, orderId);
  const { rows } = await server.admin.query<{ id: string }>('select id from payments where order_id = $1', [orderId]);
  const { config, database, clock } = server;
  const payments = createPayments({
    config,
    database,
    clock,
    log: createLog('silent'),
    requestMails: () => undefined,
  })!;
  const deps = { database, clock, refundNow: (id: string) => payments.refund(id) };

  expect(await refundByOperator(deps, rows[0]!.id, false)).toEqual({
    refused: expect.stringContaining('bought in US, outside the European Economic Area'),
  });
  expect(await planOf(ana)).toEqual(paidYear());
  expect(await refundByOperator(deps, rows[0]!.id, true)).toEqual({
    done: '24.00 USD went back, and the year it paid for ended.',
  });
  expect(await planOf(ana)).toEqual({ plan: 'free', until: null, reasons: ['payment', 'refund'] });
  const ledger = await server.admin.query(
    'select kind, amount_minor from payment_ledger where payment_id = $1 order by id',
    [rows[0]!.id],
  );
  expect(ledger.rows).toMatchObject([{ kind: 'capture' }, { kind: 'fee' }, { kind: 'refund', amount_minor: 2400 }]);
});

test('both functions answer 503 without PayPal settings', async () => {
  const off = { PAYPAL_CLIENT_ID: '', PAYPAL_CLIENT_SECRET: '', PAYPAL_WEBHOOK_ID: '' };
  const other = await startTestServer({ settings: off });
  const person = await signUp(other, 'ana');
  for (const name of ['paypal-create-order', 'paypal-capture-order']) {
    expect(await request(other, person, 'POST', `/functions/v1/${name}`, { body: {} })).toMatchObject({
      status: 503,
      json: { success: false, error: MESSAGES.paymentsOff },
    });
  }
  await other.close();
});

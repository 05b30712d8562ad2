/** kill -9 at three moments at which payment and plan could diverge: the next sweep or click makes them agree. */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPaymentServer, type PaymentServer } from './processes.ts';

/** A sweep runs at every start and every minute. */
const SWEEP_MS = 60_000;

let server: PaymentServer;
beforeEach(async () => {
  server = await createPaymentServer();
  await server.start();
  // Wait for the first sweep: a process killed during a sweep blocks the next sweep until the job's heartbeat expires.
  await expect.poll(countSweeps, { timeout: SWEEP_MS }).toBeGreaterThan(0);
});
afterEach(() => server.close());

const ORDER = { amount: 24, currency: 'USD' };
type Ada = Awaited<ReturnType<PaymentServer['signUp']>>;

/** Expires the lease of the killed process and makes its payment due at once. */
const expireLease = () =>
  server.db.admin.query("update payments set lease_until = now() - interval '1 second', due_at = now()");

async function countSweeps(): Promise<number> {
  const done = "select from pgboss.job where name = 'reconcile-payments' and state = 'completed'";
  return server.db.admin.query(done).then(
    ({ rows }) => rows.length,
    () => 0,
  );
}

const getOrderId = (): string => [...server.paypal.books.orders.keys()][0]!;

async function createApprovedOrder(ada: Ada): Promise<string> {
  const created = await ada.call('paypal-create-order', ORDER);
  expect(created).toMatchObject({ status: 200, json: { success: true, approval_url: expect.any(String) } });
  server.paypal.books.approve(getOrderId());
  return getOrderId();
}

async function books(): Promise<unknown> {
  const { rows } = await server.db.admin.query(`
    select status, subscription_plan as plan,
           (select count(*) from plan_changes where payment_id = payments.id and reason = 'payment') as grants,
           (select json_agg(kind || ' ' || amount_minor order by kind) from payment_ledger
             where payment_id = payments.id) as ledger
      from payments join profiles on profiles.id = user_id`);
  return rows;
}
const PAID = { status: 'completed', plan: 'premium', grants: 1 };

test('the next sweep grants the plan after a kill between capture and grant', async () => {
  const { control, books: paypal } = server.paypal;
  const ada = await server.signUp();
  const orderId = await createApprovedOrder(ada);
  control.fail({ path: '/capture$', hold: 'after' });
  const lost = ada.call('paypal-capture-order', { order_id: orderId }).catch(() => 'lost');
  await control.whenHeld();
  expect(paypal.captures.size).toBe(1);
  await server.kill();
  control.release();
  expect(await lost).toBe('lost');
  expect(await books()).toMatchObject([{ status: 'capturing', plan: 'free', grants: 0, ledger: null }]);

  await expireLease();
  await server.start();
  await expect.poll(books, { timeout: SWEEP_MS }).toMatchObject([PAID]);
  expect(paypal.captures.size).toBe(1);
  expect(await ada.call('paypal-capture-order', { order_id: orderId })).toEqual({
    status: 200,
    json: { success: true },
  });
  const [capture] = paypal.captures.values();
  expect(await books()).toMatchObject([{ ...PAID, ledger: ['capture 2400', `fee ${capture!.feeMinor}`] }]);
});

test('the next click gets the same order after a kill before the order is stored', async () => {
  const { control, books: paypal } = server.paypal;
  const ada = await server.signUp();
  control.fail({ path: '/v2/checkout/orders$', hold: 'after' });
  const lost = ada.call('paypal-create-order', ORDER).catch(() => 'lost');
  await control.whenHeld();
  await server.kill();
  control.release();
  expect(await lost).toBe('lost');

  await server.start();
  const orderId = await createApprovedOrder(ada);
  expect(paypal.orders.size).toBe(1);
  expect(await ada.call('paypal-capture-order', { order_id: orderId })).toEqual({
    status: 200,
    json: { success: true },
  });
  expect(await books()).toMatchObject([PAID]);
});

test('the next sweep ends the year after a kill during the refund', async () => {
  const { control, books: paypal } = server.paypal;
  const ada = await server.signUp();
  const orderId = await createApprovedOrder(ada);
  await ada.call('paypal-capture-order', { order_id: orderId });
  const { rows } = await server.db.admin.query<{ id: string }>('select id from payments');
  control.fail({ path: '/refund$', hold: 'after' });
  const operator = server.admin('refund', rows[0]!.id, '--anyway');
  const exited = once(operator, 'exit');
  await control.whenHeld();
  operator.kill('SIGKILL');
  await Promise.all([server.kill(), exited]);
  control.release();
  expect(await books()).toMatchObject([PAID]);

  await expireLease();
  await server.start();
  await expect.poll(books, { timeout: SWEEP_MS }).toMatchObject([{ status: 'refunded', plan: 'free', grants: 1 }]);
  expect(paypal.refunds.size).toBe(1);
  expect(await books()).toMatchObject([{ ledger: ['capture 2400', expect.stringMatching(/^fee /), 'refund 2400'] }]);
});

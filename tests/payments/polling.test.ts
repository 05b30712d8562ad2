/**
 * The sweep polls completed payments for returned money and refunded ones for failed refunds. It stops early if PayPal
 * is slow or does not answer. Two processes that settle one payment agree.
 */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import type { Payment } from '#server/payments/payment-store.ts';
import { createPaypal } from '#server/payments/paypal/paypal-client.ts';
import { PaypalError, type Paypal } from '#server/payments/paypal/paypal.ts';
import { processEvent, reconcilePayments } from '#server/payments/reconcile-payments.ts';
import { refundPayment } from '#server/payments/refund-payment.ts';
import { settlePayment } from '#server/payments/settle-payment.ts';
import { startPayment } from '#server/payments/payments.ts';
import { parseEvent } from '#server/payments/webhook.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { createPaypalSimulator, SANDBOX_CLIENT } from '../../simulators/paypal/simulator.ts';
import { MemoryPaymentStore } from './memory-payment-store.ts';

const API = 'http://127.0.0.1:1';
const START = Date.parse('2026-11-21T12:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NO_ANSWER = new PaypalError({
  ...{ status: 0, name: 'NO_ANSWER_IN_TIME', issue: null, retryable: true },
  ...{ outcomeUnknown: false, debugId: null, retryAfterMs: null },
});

let nowMs: number;
let lines: string[];
beforeEach(() => {
  nowMs = START;
  lines = [];
});
const clock = { now: () => new Date(nowMs) };
const countLogLines = (text: string): number => lines.filter((line) => line.includes(text)).length;

function createWorld({ hasWebhook = false } = {}) {
  const simulator = createPaypalSimulator({ clock, baseUrl: API, publicUrl: API, seed: 1 });
  const log = createLog('error', { write: (line) => void lines.push(line) });
  const client = createPaypal({
    config: {
      ...{ apiBase: API, clientId: SANDBOX_CLIENT.id, clientSecret: new Secret(SANDBOX_CLIENT.secret) },
      webhookId: null,
    },
    ...{ log: createLog('silent'), clock, fetch: simulator.fetch, pause: () => Promise.resolve() },
  });
  const calls: string[] = [];
  const outage = { isDown: false, latencyMs: 0 };
  const paypal = new Proxy(client, {
    get:
      (target, name: keyof Paypal) =>
      async (...args: never[]): Promise<unknown> => {
        calls.push(name);
        nowMs += outage.latencyMs;
        if (outage.isDown) throw NO_ANSWER;
        return (target[name] as (...parameters: never[]) => Promise<unknown>)(...args);
      },
  });
  const store = new MemoryPaymentStore(randomUUID);
  const deps = { store, paypal, clock, log, hasWebhook };
  const config = { publicUrl: API, paymentBlockedCountries: [] };

  async function beginPayment(): Promise<Payment> {
    const userId = randomUUID();
    store.buyers.set(userId, { subscription_plan: 'free', access_valid_until: null, country: 'DE' });
    await startPayment({ ...deps, config }, userId);
    return [...store.payments.values()].at(-1)!;
  }

  async function buy(): Promise<{ id: string; captureId: string }> {
    const { id, orderId } = await beginPayment();
    simulator.books.approve(orderId!, 'instant');
    expect(await settlePayment(deps, id)).toBe('completed');
    return { id, captureId: (await payment(id)).captureId! };
  }

  const payment = async (id: string): Promise<Payment> => (await store.find({ id }))!;
  const sweep = () => reconcilePayments(deps);
  /** Runs hourly sweeps for this many days. Returns the number of calls to PayPal. */
  async function passDays(days: number): Promise<number> {
    const before = calls.length;
    for (let hours = 0; hours < days * 24; hours += 1) {
      nowMs += HOUR_MS;
      await sweep();
    }
    return calls.length - before;
  }
  return { simulator, store, deps, calls, outage, beginPayment, buy, payment, sweep, passDays };
}

test('of two processes that capture one payment, the later one reports what the first one does', async () => {
  const { deps, simulator, beginPayment } = createWorld();
  const { id, orderId } = await beginPayment();
  simulator.books.approve(orderId!, 'instant');
  const settlements = await Promise.all([settlePayment(deps, id), settlePayment(deps, id)]);
  expect(settlements.toSorted()).toEqual(['capturing', 'completed']);
  expect(await settlePayment(deps, id)).toBe('completed');
});

describe('a completed payment', () => {
  test.each([
    [false, 1, 'a day'],
    [true, 7, 'a week'],
  ])('refunded at PayPal’s site is found (webhook: %s) within %i days: %s', async (hasWebhook, days) => {
    const world = createWorld({ hasWebhook });
    const { id, captureId } = await world.buy();
    expect(await world.passDays(days * 2)).toBe(2);
    world.simulator.books.refundCapture(captureId);
    await world.passDays(days);
    expect(await world.payment(id)).toMatchObject({ status: 'refunded' });
    const { userId } = await world.payment(id);
    expect(world.store.buyers.get(userId)).toMatchObject({ subscription_plan: 'free' });
  });

  test('is polled again after a partial refund', async () => {
    const world = createWorld();
    const { id, captureId } = await world.buy();
    for (const minor of [500, 1900]) {
      world.simulator.books.refundCapture(captureId, { amount: { currency: 'USD', minor } });
      await world.passDays(1);
    }
    expect(await world.payment(id)).toMatchObject({ status: 'refunded' });
    expect(world.store.ledger.filter(({ kind }) => kind === 'refund').map(({ amountMinor }) => amountMinor)).toEqual([
      500, 1900,
    ]);
  });

  test('is polled for 180 days, also after PayPal was down', async () => {
    const world = createWorld();
    const { id } = await world.buy();
    world.outage.isDown = true;
    await world.passDays(2);
    world.outage.isDown = false;
    expect((await world.payment(id)).dueAt).not.toBeNull();
    expect(await world.passDays(177)).toBeGreaterThanOrEqual(176);
    await world.passDays(2);
    expect(await world.payment(id)).toMatchObject({ status: 'completed', dueAt: null });
    expect(await world.passDays(10)).toBe(0);
  });

  test('is not polled forever when PayPal never answers', async () => {
    const world = createWorld();
    const { id } = await world.buy();
    world.outage.isDown = true;
    await world.passDays(185);
    expect((await world.payment(id)).dueAt).toBeNull();
  });
});

describe('a refund that PayPal keeps pending', () => {
  async function createPendingRefund() {
    const world = createWorld();
    const { id } = await world.buy();
    world.simulator.books.nextRefund = 'PENDING';
    await refundPayment(world.deps, id);
    await world.passDays(1);
    expect(await world.payment(id)).toMatchObject({ status: 'refunded' });
    const booked = [...world.store.ledger];
    const [refund] = world.simulator.books.refunds.values();
    return { ...world, id, booked, refundId: refund!.id };
  }
  const FAILED = 'a refund failed after it was booked: needs manual review';

  test.each([0, 20, 200])(
    'that fails after %i days is logged once for manual review and leaves the ledger unchanged',
    async (days) => {
      const { id, booked, refundId, simulator, store, payment, passDays } = await createPendingRefund();
      await passDays(days);
      expect(countLogLines(FAILED)).toBe(0);
      simulator.books.settleRefund(refundId, 'FAILED');
      await passDays(7);
      expect(countLogLines(FAILED)).toBe(1);
      expect(await passDays(30)).toBe(0);
      expect(countLogLines(FAILED)).toBe(1);
      expect(store.ledger).toEqual(booked);
      expect(await payment(id)).toMatchObject({ status: 'refunded', dueAt: null });
    },
  );

  test('that completes is polled once a week until no refund can be pending', async () => {
    const { id, refundId, simulator, payment, passDays } = await createPendingRefund();
    simulator.books.settleRefund(refundId, 'COMPLETED');
    expect(await passDays(28)).toBe(4);
    await passDays(333);
    expect(await payment(id)).toMatchObject({ status: 'refunded', dueAt: null });
    expect(countLogLines(FAILED)).toBe(0);
  });

  test('is not polled forever when PayPal never answers', async () => {
    const { id, outage, payment, passDays } = await createPendingRefund();
    outage.isDown = true;
    await passDays(362);
    expect((await payment(id)).dueAt).toBeNull();
  });
});

describe('a reversal of a capture that PayPal keeps `COMPLETED`', () => {
  /** The bank reverses the capture. Only the reversal that the event names reports the amount. */
  function reverse({ simulator }: ReturnType<typeof createWorld>, captureId: string) {
    simulator.books.reverseCapture(captureId);
    Object.assign(simulator.books.capture(captureId), { status: 'COMPLETED', refundedMinor: 0, reason: null });
    const events = simulator.drainWebhooks().map(({ body }) => parseEvent(body)!);
    return events.find(({ type }) => type === 'PAYMENT.CAPTURE.REVERSED')!;
  }
  async function expectReversed({ payment, store }: ReturnType<typeof createWorld>, id: string): Promise<void> {
    const { status, userId } = await payment(id);
    expect(status).toBe('reversed');
    expect(store.buyers.get(userId)).toMatchObject({ subscription_plan: 'free' });
  }

  test('is booked when its event is processed before that of the completed capture', async () => {
    const world = createWorld({ hasWebhook: true });
    const { id, orderId } = await world.beginPayment();
    world.simulator.books.approve(orderId!, 'echeck');
    expect(await settlePayment(world.deps, id)).toBe('pending');
    const { captureId } = await world.payment(id);
    world.simulator.books.completeCapture(captureId!);
    await processEvent(world.deps, reverse(world, captureId!));
    await expectReversed(world, id);
  });

  test('is booked while a refund is requested', async () => {
    const world = createWorld({ hasWebhook: true });
    const { id, captureId } = await world.buy();
    world.outage.isDown = true;
    await refundPayment(world.deps, id);
    world.outage.isDown = false;
    await processEvent(world.deps, reverse(world, captureId));
    await expectReversed(world, id);
  });
});

test('asks PayPal anew when an operator repeats a refund that failed', async () => {
  const world = createWorld();
  const { id } = await world.buy();
  world.simulator.books.nextRefund = 'FAILED';
  await refundPayment(world.deps, id);
  expect(await world.payment(id)).toMatchObject({ status: 'completed', refundRequestedAt: null });
  nowMs += HOUR_MS;
  world.simulator.books.nextRefund = 'COMPLETED';
  await refundPayment(world.deps, id);
  expect(await world.payment(id)).toMatchObject({ status: 'refunded' });
});

describe('a sweep over many payments', () => {
  test('ends after three unanswered payments in a row, and the next sweep continues with the others', async () => {
    const world = createWorld();
    for (let count = 0; count < 7; count += 1) await world.beginPayment();
    nowMs += 6 * MINUTE_MS;
    world.outage.isDown = true;
    expect(await world.sweep()).toEqual({ events: 0, payments: 3 });
    expect(await world.sweep()).toEqual({ events: 0, payments: 3 });
    world.outage.isDown = false;
    // Only the seventh payment is due now. The six unanswered payments are due again within two minutes.
    expect(await world.sweep()).toEqual({ events: 0, payments: 1 });
    nowMs += 2 * MINUTE_MS;
    expect(await world.sweep()).toEqual({ events: 0, payments: 6 });
  });

  test('starts no further event after a minute of events, and no further payment after a minute of payments', async () => {
    const world = createWorld();
    for (let count = 0; count < 7; count += 1) await world.beginPayment();
    const [order] = world.simulator.books.orders.keys();
    for (let count = 0; count < 7; count += 1) {
      const event = { id: `WH-${count}`, event_type: 'CHECKOUT.ORDER.APPROVED', resource: { id: order } };
      world.store.receive(event.id, JSON.stringify(event), clock.now());
    }
    nowMs += 6 * MINUTE_MS;
    world.outage.latencyMs = 25_000;
    expect(await world.sweep()).toEqual({ events: 3, payments: 3 });
  });
});

/** A sweep over the real database, with scripted answers from PayPal. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { createPostgresPaymentStore } from '#server/payments/postgres-payment-store.ts';
import type { Capture, Order, Paypal } from '#server/payments/paypal/paypal.ts';
import { reconcilePayments } from '#server/payments/reconcile-payments.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

const db = setUpTestDatabase();

const START = new Date('2026-11-21T12:00:00Z');
const at = (minutes: number): Date => new Date(START.getTime() + minutes * 60_000);

test.each<[string, Partial<Capture>]>([
  ['an amount out of the ledger’s range', { amountMinor: 999_999_999_999 }],
  ['an id that the database rejects', { id: 'CAP\0' }],
])('a response with %s does not block other payments', async (_name, invalid) => {
  const store = createPostgresPaymentStore(db.database);
  const orders = new Map<string, Order>();
  const buy = async (minutes: number, reported: Partial<Capture>): Promise<string> => {
    const userId = randomUUID();
    await db.admin.query('insert into auth.users (id) values ($1)', [userId]);
    const request = { amountMinor: 2400, currency: 'USD', country: null, createdAt: START, dueAt: at(minutes) };
    const { id } = (await store.begin({ userId, ...request }, () => false))!;
    const orderId = randomUUID();
    await store.saveOrder(id, { orderId, approvalUrl: 'https://paypal.example', debugId: null }, at(minutes));
    const capture: Capture = {
      ...{ id: `CAP-${id}`, status: 'COMPLETED', reason: null, amountMinor: 2400, currency: 'USD', feeMinor: null },
      ...{ customId: id, orderId, refundedMinor: 0, ...reported },
    };
    orders.set(orderId, {
      id: orderId,
      status: 'COMPLETED',
      customId: id,
      amountMinor: 2400,
      currency: 'USD',
      capture,
    });
    return id;
  };
  const invalidId = await buy(1, invalid);
  const validId = await buy(2, {});
  const lines: string[] = [];
  const deps = {
    store,
    paypal: { getOrder: (id: string) => Promise.resolve(orders.get(id)!) } as unknown as Paypal,
    clock: { now: () => at(3) },
    log: createLog('error', { write: (line) => void lines.push(line) }),
    hasWebhook: true,
  };
  await reconcilePayments(deps);
  expect((await store.find({ id: validId }))!.status).toBe('completed');
  expect(lines.filter((line) => line.includes(invalidId) && line.includes('needs manual review'))).not.toEqual([]);
  // The next poll of the invalid payment is postponed, so the payment does not stay first in the queue.
  expect((await store.find({ id: invalidId }))!.dueAt!.getTime()).toBeGreaterThan(at(3).getTime());
});

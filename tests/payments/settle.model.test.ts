/**
 * Model test over random histories: returning browsers, webhooks in any order and repeated, sweeps, two processes that
 * are killed at any await, lost responses, declined payments, returned money. At the end of each history, the money at
 * PayPal and the plans that we granted agree.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { daysBetween, latestToday } from '#domain/day/day.ts';
import { isOpen, type Payment, type Buyer } from '#server/payments/payment-store.ts';
import type { Capture } from '../../simulators/paypal/books/model.ts';
import { fuzzBudget } from '../support/fuzz-budget.ts';
import { setUpTestDatabase } from '../support/set-up.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { PaymentWorld, type WorldStore } from './payment-fixture.ts';
import { randomUUID } from 'node:crypto';
import { deleteAccount } from '#server/auth/own-account/delete-account.ts';
import { createPostgresPaymentStore } from '#server/payments/postgres-payment-store.ts';
import { MemoryPaymentStore, type Line, type PlanChange } from './memory-payment-store.ts';

const MEMORY_HISTORIES = fuzzBudget(1000);
/** The number of histories to test with PostgreSQL: fewer, because each takes longer. */
const DATABASE_HISTORIES = fuzzBudget(20);
const SEED = 20_261_121;
const history = fc.array(fc.nat(), { minLength: 30, maxLength: 260, size: 'max' });

const db = setUpTestDatabase();

test(`money and plans agree in each of ${MEMORY_HISTORIES} histories in memory`, async () => {
  const check = (numbers: readonly number[]): Promise<void> => checkHistory(numbers, inMemory);
  await fc.assert(fc.asyncProperty(history, check), { numRuns: MEMORY_HISTORIES, seed: SEED });
});

test(`money and plans agree in each of ${DATABASE_HISTORIES} histories over the database`, async () => {
  const check = (numbers: readonly number[]): Promise<void> => checkHistory(numbers, () => inDatabase(db));
  await fc.assert(fc.asyncProperty(history, check), { numRuns: DATABASE_HISTORIES, seed: SEED });
});

async function checkHistory(numbers: readonly number[], openStore: () => OpenedStore): Promise<void> {
  const { worldStore, readRows } = openStore();
  const world = new PaymentWorld(worldStore);
  await world.addBuyers();
  for (const number of numbers) await world.performEvent(number);
  await world.settleAll();
  if (numbers.length % 3 === 0) await world.refundAtPaypal(numbers[0]!);
  await world.passDays(1);
  // Before any further webhook: the sweep alone finds all captured money, and all returned money that PayPal shows.
  const found = await readRows(world.users);
  for (const capture of world.simulator.books.captures.values()) {
    expectMoneyBooked(found, capture);
    if (!capture.reversed) expectReturnsBooked(found, world, capture);
  }
  await world.deliverAllWebhooks();
  // Pass the 180 days in which money can be returned, and then the 180 days in which a refund can fail.
  for (const days of [181, 181]) await world.passDays(days);
  expect(world.scheduler.failures).toEqual([]);
  const store = await readRows(world.users);
  for (const capture of world.simulator.books.captures.values()) {
    expectMoneyBooked(store, capture);
    expectReturnsBooked(store, world, capture);
  }
  for (const payment of store.payments.values()) expectFinal(store, world, payment);
  for (const user of world.users) expectPlan(store, world, user);
}

const sum = (lines: readonly { amountMinor: number }[]): number =>
  lines.reduce((before, { amountMinor }) => before + amountMinor, 0);
const isMoneyReceived = ({ feeMinor }: Capture): boolean => feeMinor !== null;

function expectMoneyBooked(store: StoredRows, capture: Capture): void {
  const paymentId = capture.order.customId!;
  const lines = store.ledger.filter((line) => line.paymentId === paymentId);
  const grants = store.planChanges.filter((change) => change.paymentId === paymentId && change.reason === 'payment');
  const captured = lines.filter(({ kind }) => kind === 'capture');
  const fees = lines.filter(({ kind }) => kind === 'fee');
  if (!isMoneyReceived(capture)) {
    expect(lines).toEqual([]);
    expect(grants).toEqual([]);
    return;
  }
  const { userId, status, amountMinor } = store.payments.get(paymentId)!;
  if (capture.amount.minor !== amountMinor) {
    expect(grants).toEqual([]);
    expect(status).toBe('needs_review');
    return;
  }
  expect(captured).toMatchObject([{ ref: capture.id, amountMinor: capture.amount.minor, currency: 'USD' }]);
  expect(fees).toMatchObject([{ amountMinor: capture.feeMinor }]);
  if (grants.length === 0) {
    // Only the money of a deleted account is captured without a grant, and it is refunded.
    expect(store.buyers.has(userId)).toBe(false);
    expect(['refunded', 'reversed']).toContain(status);
  } else {
    expect(grants).toMatchObject([{ userId, plan: 'premium' }]);
  }
}

function expectReturnsBooked(store: StoredRows, world: PaymentWorld, capture: Capture): void {
  const payment = store.payments.get(capture.order.customId!)!;
  // The server books no returned money of a payment under review.
  if (payment.status === 'needs_review') return;
  const lines = store.ledger.filter(
    ({ paymentId, kind }) => paymentId === payment.id && (kind === 'refund' || kind === 'reversal'),
  );
  const refunds = [...world.simulator.books.refunds.values()].filter((refund) => refund.capture === capture);
  expect(sum(lines)).toBe(sum(refunds.map(({ amount }) => ({ amountMinor: amount.minor }))));
  const isFullyReturned = isMoneyReceived(capture) && capture.refundedMinor === capture.amount.minor;
  expect(payment.status === 'refunded' || payment.status === 'reversed').toBe(isFullyReturned);
}

function expectFinal(store: StoredRows, world: PaymentWorld, payment: Payment): void {
  expect(isOpen(payment.status), `${payment.status} is not final`).toBe(false);
  expect(payment, payment.status).toMatchObject({ dueAt: null, leaseUntil: null });
  const captures = [...world.simulator.books.captures.values()].filter(({ order }) => order.customId === payment.id);
  if (captures.some(isMoneyReceived)) return;
  expect(store.ledger.filter(({ paymentId }) => paymentId === payment.id)).toEqual([]);
  expect(store.planChanges.filter(({ paymentId }) => paymentId === payment.id)).toEqual([]);
}

/** Expects one paid year for each `completed` payment, counted from a day of this history, or else the free plan. */
function expectPlan(store: StoredRows, world: PaymentWorld, user: string): void {
  const buyer = store.buyers.get(user);
  if (!buyer) return;
  const paid = [...store.payments.values()].filter(({ userId, status }) => userId === user && status === 'completed');
  if (paid.length === 0) {
    expect(buyer).toMatchObject({ subscription_plan: 'free', access_valid_until: null });
    return;
  }
  expect(buyer.subscription_plan).toBe('premium');
  const days = daysBetween(world.startedOn, buyer.access_valid_until!);
  const elapsed = daysBetween(world.startedOn, latestToday(world.now));
  expect(days).toBeGreaterThanOrEqual(365 * paid.length);
  expect(days).toBeLessThanOrEqual(366 * paid.length + elapsed);
}

type Ledger = { user_id: string };
export type StoredRows = Pick<MemoryPaymentStore, 'buyers' | 'payments' | 'ledger' | 'planChanges'>;
export type OpenedStore = { worldStore: WorldStore; readRows(userIds: readonly string[]): Promise<StoredRows> };

export function inMemory(): OpenedStore {
  const store = new MemoryPaymentStore(randomUUID);
  const worldStore: WorldStore = {
    store,
    addBuyer: (userId) => {
      store.buyers.set(userId, { subscription_plan: 'free', access_valid_until: null, country: null });
      return Promise.resolve();
    },
    deleteAccount: (userId) => Promise.resolve(void store.buyers.delete(userId)),
    setLeaving: (userId, isLeaving) =>
      Promise.resolve(void (isLeaving ? store.leaving.add(userId) : store.leaving.delete(userId))),
    receive: ({ id, body }, now) => Promise.resolve(store.receive(id, body, now)),
  };
  return { worldStore, readRows: () => Promise.resolve(store) };
}

export function inDatabase({ admin, database }: TestDatabase): OpenedStore {
  const store = createPostgresPaymentStore(database);
  /** The random id that replaced the user of a deleted account in the ledger. */
  const erased = new Map<string, string>();
  const worldStore: WorldStore = {
    store,
    addBuyer: async (userId) => void (await admin.query('insert into auth.users (id) values ($1)', [userId])),
    async deleteAccount(userId) {
      const { rows } = await admin.query<{ id: string }>('select id from payments where user_id = $1', [userId]);
      await deleteAccount(database, { userId, actor: 'job', now: new Date() });
      const [after] = (await admin.query<Ledger>('select user_id from payments where id = $1', [rows[0]?.id])).rows;
      if (after && after.user_id !== userId) erased.set(after.user_id, userId);
    },
    setLeaving: async (userId, isLeaving) =>
      void (await admin.query(
        `update auth.users set deletion_due_at = case when $2 then now() + interval '1 hour' end where id = $1`,
        [userId, isLeaving],
      )),
    async receive({ id, type, body }, now) {
      const insert = `insert into payment_events (id, type, raw, received_at) values ($1, $2, $3, $4)
        on conflict (id) do nothing`;
      return (await admin.query(insert, [id, type, body, now])).rowCount === 1;
    },
  };
  return {
    worldStore,
    async readRows(users) {
      const userIds = [...users, ...[...erased].filter(([, user]) => users.includes(user)).map(([id]) => id)];
      const rows = async <T>(text: string): Promise<T[]> => (await admin.query(text, [userIds])).rows as T[];
      /** Names the former user again, so that the test can compare the rows with those in memory. */
      const withUser = <Row extends { userId: string }>(row: Row): Row => ({
        ...row,
        userId: erased.get(row.userId) ?? row.userId,
      });
      const ids = await rows<{ id: string }>('select id from payments where user_id = any ($1)');
      const payments = await Promise.all(ids.map(({ id }) => store.find({ id })));
      const buyers = await rows<Buyer & { id: string }>('select * from profiles where id = any ($1)');
      return {
        payments: new Map(payments.map((payment) => [payment!.id, withUser(payment!)] satisfies [string, Payment])),
        buyers: new Map(buyers.map((buyer) => [buyer.id, buyer])),
        ledger: await rows<Line>(
          `select payment_id as "paymentId", kind, payment_ledger.amount_minor as "amountMinor", payment_ledger.currency, provider_ref as ref
             from payment_ledger join payments on payments.id = payment_id where user_id = any ($1)
            order by payment_ledger.id`,
        ),
        planChanges: (
          await rows<PlanChange>(
            `select user_id as "userId", plan, access_valid_until as until, reason, payment_id as "paymentId",
                    valid_from as "validFrom" from plan_changes where user_id = any ($1) order by id`,
          )
        ).map(withUser),
      };
    },
  };
}

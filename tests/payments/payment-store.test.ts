/**
 * The contract of a `PaymentStore`: random commands return the same from the PostgreSQL store and the memory store, and
 * leave the same rows. So the model test's results hold for both stores.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Database } from '#server/database/database.ts';
import type { Payment, PaymentStore } from '#server/payments/payment-store.ts';
import { createPostgresPaymentStore } from '#server/payments/postgres-payment-store.ts';
import type { Capture } from '#server/payments/paypal/paypal.ts';
import { changePlan } from '#server/plans/change-plan.ts';
import { fuzzBudget } from '../support/fuzz-budget.ts';
import { setUpTestDatabase } from '../support/set-up.ts';
import { MemoryPaymentStore } from './memory-payment-store.ts';

const db = setUpTestDatabase();

const START = Date.parse('2026-11-21T12:00:00Z');
const at = (minutes: number): Date => new Date(START + minutes * 60_000);

/** One side of the comparison: a store and the ids of its payments in order of creation. */
type Side = {
  store: PaymentStore;
  paymentIds: string[];
  /** Payments as a worker read them earlier, possibly stale. */
  read: Map<string, Payment>;
  claimed: Map<string, Payment>;
  deleteAccount(userId: string): Promise<unknown>;
  grantByOperator(userId: string): Promise<unknown>;
};

const STATUSES = ['declined', 'voided', 'expired', 'needs_review'] as const;
const RELEASES = ['created', 'approved', 'capturing'] as const;

/** Performs the command that the number selects. Both sides get the same numbers. */
async function perform(side: Side, users: readonly string[], number: number, minutes: number): Promise<unknown> {
  const { store, paymentIds, read, claimed } = side;
  const choice = Math.floor(number / 20);
  const id = paymentIds[choice % Math.max(1, paymentIds.length)];
  const user = users[choice % users.length]!;
  const now = at(minutes);
  const lease = at(minutes + 2);
  if (number % 20 < 3 || id === undefined) {
    const request = { userId: user, amountMinor: 2400, currency: 'USD', country: 'DE', createdAt: now, dueAt: lease };
    const created = await store.begin(request, (open) => choice % 3 === 0 && open.status === 'created');
    if (created && !paymentIds.includes(created.id)) paymentIds.push(created.id);
    return created;
  }
  const orderId = `ORDER${paymentIds.indexOf(id)} of ${users[0]}`;
  const status = (['COMPLETED', 'COMPLETED', 'PARTIALLY_REFUNDED', 'REFUNDED'] as const)[choice % 4]!;
  const capture: Capture = {
    ...{ id: `${id}-${choice % 5 === 0 ? 'b' : 'a'}`, status, reason: null, amountMinor: 2400, currency: 'USD' },
    ...{ feeMinor: choice % 7 === 0 ? null : 133, customId: id, orderId, refundedMinor: 0 },
  };
  switch (number % 20) {
    case 3:
      return store.saveOrder(id, { orderId, approvalUrl: `https://paypal/${choice % 2}`, debugId: null }, lease);
    case 4:
      return store.find(choice % 2 === 0 ? { orderId } : { captureId: capture.id });
    case 5: {
      const found = await store.find({ id });
      if (found) read.set(id, found);
      return found;
    }
    case 6:
    case 7: {
      const old = read.get(id);
      const claim = old ? await store.claim(old, now, lease) : null;
      if (claim) claimed.set(id, claim);
      return claim;
    }
    case 8: {
      const old = claimed.get(id);
      const release = { status: RELEASES[choice % 3]!, dueAt: lease, refused: choice % 2 === 0 };
      return old ? store.release(old, release) : null;
    }
    case 9: {
      const old = claimed.get(id);
      const claim = old && choice % 3 === 1 ? { claimed: old } : {};
      return store.close(
        id,
        STATUSES[choice % 4]!,
        choice % 3 === 0 ? { captureId: capture.id } : { dueAt: lease, ...claim },
      );
    }
    case 10:
      return store.markPending(id, capture.id, lease);
    case 11:
      return store.schedulePoll(id, choice % 2 === 0 ? lease : null);
    case 12:
    case 13:
      return store.complete(id, capture, now, choice % 3 === 0 ? null : lease);
    case 14:
      return choice % 4 === 0 ? store.bookForReview(id, capture) : store.requestRefund(id, now);
    case 15: {
      const part = choice % 2 === 0 ? { ref: `${id}-r${choice % 3}`, amountMinor: 500 + (choice % 3) * 700 } : null;
      const total = [null, 1000, 1200, 2400][choice % 4]!;
      const dueDates = {
        dueAt: choice % 5 === 0 ? null : lease,
        dueAtFullReturn: choice % 2 === 0 ? null : at(minutes + 9),
      };
      return store.bookReturn(id, { kind: choice % 3 === 0 ? 'reversal' : 'refund', part, total, now, ...dueDates });
    }
    case 16:
      return choice % 4 === 0
        ? store.cancelRefund(id, choice % 8 === 0 ? null : lease)
        : store.claimRefund(id, now, lease);
    case 17:
      return (await store.due(now, 3)).length;
    case 18:
      return choice % 4 === 0 ? store.isLeaving(user) : store.buyer(user);
    default:
      if (choice % 6 === 0) return side.deleteAccount(user);
      return choice % 6 === 1 ? side.grantByOperator(user) : store.due(at(minutes + 500), 50);
  }
}

function memorySide(users: readonly string[]): Side & { store: MemoryPaymentStore } {
  const store = new MemoryPaymentStore(randomUUID);
  for (const user of users) {
    store.buyers.set(user, { subscription_plan: 'free', access_valid_until: null, country: null });
  }
  return {
    ...{ store, paymentIds: [], read: new Map(), claimed: new Map() },
    deleteAccount: (userId) => Promise.resolve(void store.buyers.delete(userId)),
    grantByOperator: (userId) => {
      const plan = {
        plan: 'premium',
        until: null,
        reason: 'operator grant',
        paymentId: null,
        validFrom: null,
      } as const;
      if (store.buyers.has(userId)) store.changePlan({ userId, ...plan });
      return Promise.resolve();
    },
  };
}

async function databaseSide(database: Database, users: readonly string[]): Promise<Side> {
  await db.admin.query('insert into auth.users (id) select unnest($1::uuid[])', [users]);
  return {
    ...{ store: createPostgresPaymentStore(database), paymentIds: [], read: new Map(), claimed: new Map() },
    deleteAccount: async (userId) => void (await db.admin.query('delete from auth.users where id = $1', [userId])),
    grantByOperator: async (userId) => {
      const plan = { plan: 'premium', accessValidUntil: null, reason: 'operator grant' } as const;
      await changePlan(database, { userId, ...plan });
    },
  };
}

/** Replaces the payment ids, the only values in which the two sides may differ. */
const replaceIds = (value: unknown, paymentIds: readonly string[]): unknown =>
  JSON.parse(
    paymentIds.reduce((text, id, index) => text.replaceAll(id, `payment ${index}`), JSON.stringify(value ?? null)),
  );

/** A database error and an error of the memory store both become the outcome `refused`. */
const toOutcome = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (error instanceof pg.DatabaseError || (error instanceof Error && error.constructor === Error)) return 'refused';
    throw error;
  });

async function readRows(userIds: readonly string[]): Promise<unknown> {
  const read = async (text: string): Promise<unknown[]> => (await db.admin.query(text, [userIds])).rows;
  return {
    ledger: await read(
      `select payment_id as "paymentId", kind, amount_minor as "amountMinor", currency, provider_ref as ref
         from payment_ledger where payment_id in (select id from payments where user_id = any ($1)) order by id`,
    ),
    planChanges: await read(
      `select user_id as "userId", plan, access_valid_until as until, reason, payment_id as "paymentId",
              valid_from as "validFrom" from plan_changes where user_id = any ($1) order by id`,
    ),
    buyers: await read(
      `select id, subscription_plan, access_valid_until, country from profiles where id = any ($1) order by id`,
    ),
  };
}

test('the memory store and the PostgreSQL store return and store the same', async () => {
  const command = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 3 }));
  const commands = fc.array(command, { minLength: 20, maxLength: 60, size: 'max' });
  const compare = async (numbers: readonly [number, number][]): Promise<void> => {
    const users = [randomUUID(), randomUUID()].toSorted();
    const memory = memorySide(users);
    const database = await databaseSide(db.database, users);
    let minutes = 0;
    for (const [number, passes] of numbers) {
      minutes += passes;
      const inMemory = await toOutcome(perform(memory, users, number, minutes));
      const stored = await toOutcome(perform(database, users, number, minutes));
      // Commands 17 and 19 call `due`, which returns also payments of earlier histories from the shared database.
      if (number % 20 === 17 || number % 20 === 19) continue;
      expect(replaceIds(stored, database.paymentIds), `command ${number % 20}`).toEqual(
        replaceIds(inMemory, memory.paymentIds),
      );
    }
    for (const [index, id] of memory.paymentIds.entries()) {
      const stored = await database.store.find({ id: database.paymentIds[index]! });
      expect(replaceIds(stored, database.paymentIds)).toEqual(
        replaceIds(await memory.store.find({ id }), memory.paymentIds),
      );
    }
    const { ledger, planChanges, buyers } = memory.store;
    const memoryRows = { ledger, planChanges, buyers: [...buyers].map(([id, buyer]) => ({ id, ...buyer })) };
    expect(replaceIds(await readRows(users), database.paymentIds)).toEqual(replaceIds(memoryRows, memory.paymentIds));
  };
  await fc.assert(fc.asyncProperty(commands, compare), { numRuns: fuzzBudget(40), seed: 20_261_121 });
});

test('the database rejects a second grant and a second withdrawal for one payment', async () => {
  const user = randomUUID();
  const side = await databaseSide(db.database, [user]);
  const request = { userId: user, amountMinor: 2400, currency: 'USD', country: null, createdAt: at(0), dueAt: at(0) };
  const payment = await side.store.begin(request, () => false);
  const grant = { userId: user, plan: 'premium', accessValidUntil: null, paymentId: payment!.id } as const;
  await changePlan(db.database, { ...grant, reason: 'payment' });
  await changePlan(db.database, { ...grant, reason: 'refund' });
  for (const reason of ['payment', 'refund', 'reversal']) {
    await expect(changePlan(db.database, { ...grant, reason })).rejects.toMatchObject({ code: '23505' });
  }
});

test('concurrent starts create one payment', async () => {
  const user = randomUUID();
  const { store } = await databaseSide(db.database, [user]);
  const request = { userId: user, amountMinor: 2400, currency: 'USD', country: null, createdAt: at(0), dueAt: at(0) };
  const created = await Promise.all(Array.from({ length: 4 }, () => store.begin(request, () => true)));
  expect(new Set(created.map((payment) => payment?.id)).size).toBe(1);
});

test('concurrent bookings of one capture grant one year', async () => {
  const user = randomUUID();
  const { store } = await databaseSide(db.database, [user]);
  const request = { userId: user, amountMinor: 2400, currency: 'USD', country: null, createdAt: at(0), dueAt: at(0) };
  const { id } = (await store.begin(request, () => false))!;
  const capture: Capture = {
    ...{ id: `capture of ${id}`, status: 'COMPLETED', reason: null, amountMinor: 2400, currency: 'USD' },
    ...{ feeMinor: 133, customId: id, orderId: null, refundedMinor: 0 },
  };
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => store.complete(id, capture, at(1), null)));
  expect(outcomes.toSorted()).toEqual(['already_booked', 'already_booked', 'already_booked', 'granted']);
});

test('a payment is claimed once while its lease runs, and again after its end', async () => {
  const userId = randomUUID();
  await db.admin.query('insert into auth.users (id) values ($1)', [userId]);
  const store = createPostgresPaymentStore(db.database);
  const request = { userId, amountMinor: 2400, currency: 'USD', country: 'DE', createdAt: at(0), dueAt: at(2) };
  const created = await store.begin(request, () => false);
  expect(await store.claim(created!, at(0), at(2))).not.toBeNull();
  const claimed = await store.find({ id: created!.id });
  expect(await store.claim(claimed!, at(1), at(3))).toBeNull();
  expect(await store.claim(claimed!, at(2), at(4))).not.toBeNull();
});

/** The two stores of a `PaymentWorld`, in memory and in a database, with their rows in the same format. */
import { randomUUID } from 'node:crypto';
import type { Buyer, Payment } from '#server/payments/payment-store.ts';
import { deleteAccount } from '#server/auth/own-account/delete-account.ts';
import { createPostgresPaymentStore } from '#server/payments/postgres-payment-store.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { MemoryPaymentStore, type Line, type PlanChange } from './memory-payment-store.ts';
import type { WorldStore } from './payment-fixture.ts';

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

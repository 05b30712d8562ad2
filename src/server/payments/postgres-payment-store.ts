/** The payment store in PostgreSQL. `ledger.ts` books the money. */
import type { Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { bookReturn, bookForReview, completePayment } from './ledger.ts';
import { OPEN_STATUSES, type Payment, type PaymentStore } from './payment-store.ts';

export function createPostgresPaymentStore(database: Database): PaymentStore {
  const service = (): AsService => database.asService('settle a payment');
  const transact = <T>(work: (transaction: AsService) => Promise<T>): Promise<T> =>
    database.transactAsService('payment', work);
  const update = () => queryBuilder.updateTable('payments');

  return {
    async buyer(userId) {
      const [found] = await service().run(
        queryBuilder
          .selectFrom('profiles')
          .select(['subscription_plan', 'access_valid_until', 'country'])
          .where('id', '=', userId),
      );
      return found ?? null;
    },

    async isLeaving(userId) {
      const found = await service().run(
        queryBuilder
          .selectFrom('auth.users')
          .select('id')
          .where('id', '=', userId)
          .where('deletion_due_at', 'is not', null),
      );
      return found.length > 0;
    },

    begin: ({ userId, amountMinor, currency, country, dueAt, createdAt }, canReuse) =>
      transact(async (transaction) => {
        // The row lock serializes the calls of one user.
        const account = await transaction.run(
          queryBuilder.selectFrom('profiles').select('id').where('id', '=', userId).forUpdate(),
        );
        if (account.length === 0) return null;
        const open = await transaction.run(
          queryBuilder
            .selectFrom('payments')
            .selectAll()
            .where('user_id', '=', userId)
            .where('status', 'in', OPEN_STATUSES)
            .orderBy('created_at', 'desc'),
        );
        const reusable = open.map(toPayment).find(canReuse);
        if (reusable) return reusable;
        const [begun] = await transaction.run(
          queryBuilder
            .insertInto('payments')
            .values({
              user_id: userId,
              amount_minor: amountMinor,
              currency,
              country,
              due_at: dueAt,
              created_at: createdAt,
            })
            .returningAll(),
        );
        return toPayment(begun!);
      }),

    async find(by) {
      const [column, value] =
        'id' in by
          ? (['id', by.id] as const)
          : 'orderId' in by
            ? (['order_id', by.orderId] as const)
            : (['capture_id', by.captureId] as const);
      const [row] = await service().run(queryBuilder.selectFrom('payments').selectAll().where(column, '=', value));
      return row ? toPayment(row) : null;
    },

    async saveOrder(id, { orderId, approvalUrl, debugId }, dueAt) {
      await service().run(
        update()
          .set({ order_id: orderId, approval_url: approvalUrl, debug_id: debugId, due_at: dueAt })
          .where('id', '=', id)
          .where('order_id', 'is', null),
      );
      const [row] = await service().run(queryBuilder.selectFrom('payments').selectAll().where('id', '=', id));
      return toPayment(row!);
    },

    async claim(read, now, leaseUntil) {
      const [row] = await service().run(
        update()
          .set({ status: 'capturing', lease_until: leaseUntil, due_at: leaseUntil })
          .where('id', '=', read.id)
          .where('status', '=', read.status)
          .where((is) => is.or([is('lease_until', 'is', null), is('lease_until', '<=', now)]))
          .returningAll(),
      );
      return row ? toPayment(row) : null;
    },

    async release(claimed, { status, dueAt, refused = false }) {
      await service().run(
        update()
          .set((is) => ({
            status,
            lease_until: null,
            due_at: dueAt,
            refused_captures: is('refused_captures', '+', refused ? 1 : 0),
          }))
          .where('id', '=', claimed.id)
          .where('status', '=', 'capturing')
          .where('lease_until', '=', claimed.leaseUntil),
      );
    },

    async close(id, status, { captureId, dueAt = null, claimed }) {
      const ending = update()
        .set({ status, lease_until: null, due_at: dueAt, ...(captureId !== undefined && { capture_id: captureId }) })
        .where('id', '=', id)
        .where('status', 'in', OPEN_STATUSES);
      await service().run(
        claimed ? ending.where('status', '=', 'capturing').where('lease_until', '=', claimed.leaseUntil) : ending,
      );
    },

    async markPending(id, captureId, dueAt) {
      await service().run(
        update()
          .set({ status: 'pending', capture_id: captureId, lease_until: null, due_at: dueAt })
          .where('id', '=', id)
          .where('status', 'in', OPEN_STATUSES),
      );
    },

    async schedulePoll(id, dueAt) {
      await service().run(
        update().set({ lease_until: null, due_at: dueAt }).where('id', '=', id).where('status', '!=', 'capturing'),
      );
    },

    complete: (id, capture, now, dueAt) =>
      transact((transaction) => completePayment(transaction, id, capture, now, dueAt)),
    bookForReview: (id, capture) => transact((transaction) => bookForReview(transaction, id, capture)),
    bookReturn: (id, back) => transact((transaction) => bookReturn(transaction, id, back)),

    async requestRefund(id, now) {
      const requested = await service().run(
        update()
          .set((is) => ({ refund_requested_at: is.fn.coalesce('refund_requested_at', is.val(now)), due_at: now }))
          .where('id', '=', id)
          .where('status', '=', 'completed')
          .returning('id'),
      );
      return requested.length > 0;
    },

    async claimRefund(id, now, leaseUntil) {
      const [row] = await service().run(
        update()
          .set({ lease_until: leaseUntil, due_at: leaseUntil })
          .where('id', '=', id)
          .where('status', '=', 'completed')
          .where('refund_requested_at', 'is not', null)
          .where((is) => is.or([is('lease_until', 'is', null), is('lease_until', '<=', now)]))
          .returningAll(),
      );
      return row ? toPayment(row) : null;
    },

    async cancelRefund(id, dueAt) {
      await service().run(
        update()
          .set({ refund_requested_at: null, lease_until: null, due_at: dueAt })
          .where('id', '=', id)
          .where('status', '=', 'completed'),
      );
    },

    async due(now, limit) {
      const rows = await service().run(
        queryBuilder.selectFrom('payments').select('id').where('due_at', '<=', now).orderBy('due_at').limit(limit),
      );
      return rows.map(({ id }) => id);
    },

    unprocessedEvents: (limit) =>
      service().run(
        queryBuilder
          .selectFrom('payment_events')
          .select(['id', 'raw', 'received_at as receivedAt'])
          .where('processed_at', 'is', null)
          .orderBy('received_at')
          .limit(limit),
      ),

    async markEventProcessed(id, now, userId) {
      await service().statement(
        `update public.payment_events
            set processed_at = $2,
                raw = case when $3::uuid is null then raw
                           -- The lock waits for a concurrent deletion of the account.
                           when exists (select from auth.users where id = $3 for key share) then raw
                           else '' end
          where id = $1`,
        [id, now, userId],
      );
    },
  };
}

function toPayment(row: Selectable<Tables['payments']>): Payment {
  return {
    id: row.id,
    userId: row.user_id,
    orderId: row.order_id,
    captureId: row.capture_id,
    amountMinor: row.amount_minor,
    currency: row.currency,
    country: row.country,
    status: row.status,
    leaseUntil: row.lease_until,
    dueAt: row.due_at,
    refusedCaptures: row.refused_captures,
    refundRequestedAt: row.refund_requested_at,
    approvalUrl: row.approval_url,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}

/**
 * The append-only ledger of payments. Each exported function works in the caller's transaction and first locks the
 * payment's row, so that a concurrent call sees what the first one has booked. A change of the plan is made in the same
 * transaction.
 */
import type { Updateable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { canBookCapture, type MoneyReturn } from './payment-store.ts';
import type { AsService } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import { grantPaidYear, withdrawPaidYear } from '../plans/change-plan.ts';
import type { Capture } from './paypal/paypal.ts';

type Kind = 'capture' | 'fee' | 'refund' | 'reversal';
type Line = { paymentId: string; kind: Kind; amountMinor: number; currency: string; ref: string };

export async function completePayment(
  transaction: AsService,
  id: string,
  capture: Capture,
  now: Date,
  dueAt: Date | null,
): Promise<'granted' | 'no_account' | 'already_booked'> {
  const payment = await lockPayment(transaction, id);
  if (!payment || !canBookCapture(payment.status)) return 'already_booked';
  await bookCapture(transaction, id, capture);
  const granted = await grantPaidYear(transaction, { userId: payment.user_id, paymentId: id, now });
  await updatePayment(transaction, id, {
    status: 'completed',
    capture_id: capture.id,
    completed_at: now,
    lease_until: null,
    refund_requested_at: granted ? null : now,
    due_at: granted && capture.status === 'COMPLETED' ? dueAt : now,
  });
  return granted ? 'granted' : 'no_account';
}

export async function bookForReview(transaction: AsService, id: string, capture: Capture): Promise<void> {
  const payment = await lockPayment(transaction, id);
  if (!payment || !canBookCapture(payment.status)) return;
  await bookCapture(transaction, id, capture);
  await updatePayment(transaction, id, {
    status: 'needs_review',
    capture_id: capture.id,
    lease_until: null,
    due_at: null,
  });
}

export async function bookReturn(transaction: AsService, id: string, back: MoneyReturn): Promise<void> {
  const payment = await lockPayment(transaction, id);
  if (payment?.status !== 'completed') return;
  const { kind, part, total, now, dueAt, dueAtFullReturn } = back;
  const { capture_id: captureId, currency, user_id: userId } = payment;
  const booked = await transaction.run(
    queryBuilder
      .selectFrom('payment_ledger')
      .select(['amount_minor', 'provider_ref'])
      .where('payment_id', '=', id)
      .where('kind', 'in', ['refund', 'reversal']),
  );
  let sum = booked.reduce((before, line) => before + line.amount_minor, 0);
  const most = total ?? payment.amount_minor;
  const isNew = part !== null && !booked.some(({ provider_ref }) => provider_ref === part.ref);
  if (isNew && sum + part.amountMinor <= most) {
    await bookLine(transaction, { paymentId: id, kind, amountMinor: part.amountMinor, currency, ref: part.ref });
    sum += part.amountMinor;
  }
  if (total !== null && sum < total) {
    await bookLine(transaction, {
      paymentId: id,
      kind,
      amountMinor: total - sum,
      currency,
      ref: `${captureId}/${total}`,
    });
    sum = total;
  }
  if (sum >= payment.amount_minor) {
    await withdrawPaidYear(transaction, { userId, paymentId: id, now }, kind);
    const status = kind === 'refund' ? 'refunded' : 'reversed';
    await updatePayment(transaction, id, { status, lease_until: null, due_at: dueAtFullReturn });
  } else if (payment.refund_requested_at === null) {
    await updatePayment(transaction, id, { due_at: dueAt });
  }
}

async function bookCapture(transaction: AsService, paymentId: string, capture: Capture): Promise<void> {
  const { id: ref, amountMinor, feeMinor, currency } = capture;
  await bookLine(transaction, { paymentId, kind: 'capture', amountMinor, currency, ref });
  if (feeMinor !== null) await bookLine(transaction, { paymentId, kind: 'fee', amountMinor: feeMinor, currency, ref });
}

async function bookLine(transaction: AsService, { paymentId, kind, amountMinor, currency, ref }: Line): Promise<void> {
  await transaction.run(
    queryBuilder
      .insertInto('payment_ledger')
      .values({ payment_id: paymentId, kind, amount_minor: amountMinor, currency, provider_ref: ref }),
  );
}

async function updatePayment(
  transaction: AsService,
  id: string,
  change: Updateable<Tables['payments']>,
): Promise<void> {
  await transaction.run(queryBuilder.updateTable('payments').set(change).where('id', '=', id));
}

async function lockPayment(transaction: AsService, id: string) {
  const [payment] = await transaction.run(
    queryBuilder.selectFrom('payments').selectAll().where('id', '=', id).forUpdate(),
  );
  return payment;
}

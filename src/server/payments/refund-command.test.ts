import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { day, type Day } from '#domain/day/day.ts';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { systemClock } from '#server/clock.ts';
import { changePlan } from '#server/plans/change-plan.ts';
import type { Capture } from './paypal/paypal.ts';
import { createPostgresPaymentStore } from './postgres-payment-store.ts';
import { refundByOperator } from './refund-payment.ts';

const db = setUpTestDatabase();

/** The command's output when `meanwhile` runs between the purchase and the refund. */
async function printed(meanwhile: (userId: string) => Promise<unknown>): Promise<string> {
  const { database, admin } = db;
  const store = createPostgresPaymentStore(database);
  const userId = randomUUID();
  await admin.query('insert into auth.users (id) values ($1)', [userId]);
  const now = systemClock.now();
  const asked = { userId, amountMinor: 2400, currency: 'USD', country: 'DE', createdAt: now, dueAt: now };
  const { id } = (await store.begin(asked, () => false))!;
  const capture: Capture = {
    ...{ id: `capture of ${id}`, status: 'COMPLETED', reason: null, amountMinor: 2400, currency: 'USD' },
    ...{ feeMinor: 133, customId: id, orderId: null, refundedMinor: 0 },
  };
  await store.complete(id, capture, now, null);
  await meanwhile(userId);
  const back = { kind: 'refund', part: null, total: 2400, now, dueAt: null, dueAtFullReturn: null } as const;
  const answer = await refundByOperator(
    { database, clock: systemClock, refundNow: (payment) => store.bookReturn(payment, back) },
    id,
    false,
  );
  return 'done' in answer ? answer.done : answer.refused;
}

const OTHER_SOURCE = 'The plan now comes from another payment or grant, so it stays';
const grant = (accessValidUntil: Day | null) => (userId: string) =>
  changePlan(db.database, { userId, plan: 'premium', accessValidUntil, reason: 'operator grant' });

test.each<[string, (userId: string) => Promise<unknown>, string]>([
  ['nothing', () => Promise.resolve(), 'and the year it paid for ended.'],
  ['a grant', grant(day('2040-01-01')), `${OTHER_SOURCE}: a Closer until 2040-01-01.`],
  ['a grant without end', grant(null), `${OTHER_SOURCE}: a Closer without end.`],
  [
    'a revocation',
    (userId) =>
      changePlan(db.database, { userId, plan: 'free', accessValidUntil: null, reason: 'operator revocation' }),
    'The year it paid for had ended before.',
  ],
  [
    'the account’s end',
    (userId) => db.admin.query('delete from auth.users where id = $1', [userId]),
    'The account is gone.',
  ],
])('after %s the command reports the plan', async (_what, meanwhile, words) => {
  const text = await printed(meanwhile);
  expect(text).toContain('24.00 USD went back');
  expect(text).toContain(words);
});

/**
 * Constraints and triggers of the payment tables, which bind every role: facts are immutable, rows are never deleted.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { PAYMENT_STATUSES } from '#domain/payment/payment.ts';
import { setUpTestDatabase } from '../support/set-up.ts';
import { runAs, PEOPLE, resetFixtures } from './fixtures.ts';

/** restrict_violation, raised by the triggers that forbid a change or a deletion. */
const RESTRICTED = '23001';
const DUPLICATE = '23505';

const db = setUpTestDatabase();
let id = '';
beforeEach(async () => {
  await resetFixtures(db.admin);
  const { rows } = await db.admin.query<{ id: string }>(
    `insert into payments (user_id, amount_minor, currency, country) values ($1, 2400, 'USD', 'DE') returning id`,
    [PEOPLE.free.id],
  );
  id = rows[0]!.id;
});

const outcome = (text: string, values: unknown[] = [id]): Promise<number | string> =>
  db.admin.query(text, values).then(
    ({ rowCount }) => rowCount ?? 0,
    (error: { code: string }) => error.code,
  );

test('payments allows exactly the statuses of the domain', async () => {
  const { rows } = await db.admin.query<{ rule: string }>(
    "select pg_get_constraintdef(oid) as rule from pg_constraint where conname = 'payments_known_status'",
  );
  const known = [...rows[0]!.rule.matchAll(/'([a-z_]+)'/g)].map(([, status]) => status);
  expect(new Set(known)).toEqual(new Set(PAYMENT_STATUSES));
});

describe('a superuser cannot', () => {
  test.each([
    'user_id = gen_random_uuid()',
    'amount_minor = 1',
    "currency = 'VND'",
    'country = null',
    'created_at = now()',
  ])('update payments: set %s', async (change) => {
    expect(await outcome(`update payments set ${change} where id = $1`)).toBe(RESTRICTED);
  });

  test('change order_id or capture_id of payments once they are set', async () => {
    const setIds = 'update payments set order_id = $2, capture_id = $2 where id = $1';
    expect(await outcome(setIds, [id, `first of ${id}`])).toBe(1);
    expect(await outcome(setIds, [id, `other of ${id}`])).toBe(RESTRICTED);
    expect(await outcome(setIds, [id, null])).toBe(RESTRICTED);
  });

  test('delete or truncate a table of payments, or update the ledger or the history of changes', async () => {
    await outcome(
      `insert into payment_ledger (payment_id, kind, amount_minor, currency, provider_ref) values ($1, 'capture', 2400, 'USD', $1)`,
    );
    for (const table of ['payments', 'payment_changes', 'payment_ledger']) {
      expect(await outcome(`delete from ${table}`, [])).toBe(RESTRICTED);
      expect(await outcome(`truncate ${table} cascade`, [])).toBe(RESTRICTED);
    }
    expect(await outcome('update payment_ledger set amount_minor = 1', [])).toBe(RESTRICTED);
    expect(await outcome("update payment_changes set status = 'completed'", [])).toBe(RESTRICTED);
  });

  test('insert a capture into payment_ledger twice', async () => {
    const book = `insert into payment_ledger (payment_id, kind, amount_minor, currency, provider_ref)
      values ($1, 'capture', 2400, 'USD', $2)`;
    expect(await outcome(book, [id, `capture of ${id}`])).toBe(1);
    expect(await outcome(book, [id, `capture of ${id}`])).toBe(DUPLICATE);
  });
});

test('payment_changes records every change of a status once', async () => {
  for (const status of ['capturing', 'capturing', 'completed', 'refunded']) {
    await outcome('update payments set status = $2 where id = $1', [id, status]);
  }
  const { rows } = await db.admin.query('select status from payment_changes where payment_id = $1 order by id', [id]);
  expect(rows.map(({ status }: { status: string }) => status)).toEqual([
    'created',
    'capturing',
    'completed',
    'refunded',
  ]);
});

test('deleting an account keeps its payments', async () => {
  await db.admin.query('delete from auth.users where id = $1', [PEOPLE.free.id]);
  expect(await outcome('select 1 from payments where id = $1')).toBe(1);
});

test('a user reads only their own payments, without internal columns', async () => {
  const own = 'select id, order_id, amount_minor, currency, status, country, created_at, completed_at from payments';
  expect(await runAs(db.database, 'free', own)).toBeGreaterThan(0);
  expect(await runAs(db.database, 'premium', own)).toBe(0);
  for (const column of ['capture_id', 'lease_until', 'debug_id', 'approval_url', 'refund_requested_at']) {
    expect(await runAs(db.database, 'free', `select ${column} from payments`)).toBe('42501');
  }
});

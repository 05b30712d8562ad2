/** `erase_payer`, the only way to change the user in a ledger: only the service may call it, for a deleted account. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { setUpTestDatabase } from '../support/set-up.ts';
import { ACTORS, REFUSED, runAs } from './fixtures.ts';

/** restrict_violation, raised by the triggers. */
const RESTRICTED = '23001';
const LEDGERS = ['payments', 'plan_changes', 'plan_uses'] as const;

const db = setUpTestDatabase();
let leaver = '';
let other = '';
beforeEach(async () => {
  [leaver, other] = [randomUUID(), randomUUID()];
  for (const user of [leaver, other]) {
    await db.admin.query('insert into auth.users (id) values ($1)', [user]);
    const { rows } = await db.admin.query<{ id: string }>(
      `insert into payments (user_id, order_id, amount_minor, currency, country, approval_url, debug_id)
       values ($1, gen_random_uuid()::text, 2400, 'USD', 'DE', 'https://paypal.example/approve', 'abc') returning id`,
      [user],
    );
    const [paymentId] = rows.map(({ id }) => id);
    await db.admin.query("update payments set status = 'completed', capture_id = order_id where id = $1", [paymentId]);
    await db.admin.query(
      `insert into payment_ledger (payment_id, kind, amount_minor, currency, provider_ref)
       values ($1, 'capture', 2400, 'USD', $1::uuid::text), ($1, 'fee', 133, 'USD', $1::uuid::text)`,
      [paymentId],
    );
    await db.admin.query(
      `insert into plan_changes (user_id, plan, reason, payment_id) values ($1, 'premium', 'payment', $2)`,
      [user, paymentId],
    );
    await db.admin.query("insert into plan_uses (user_id, kind) values ($1, 'export')", [user]);
  }
});

const erase = (user: string): Promise<number | string> =>
  runAs(db.database, 'service', 'select public.erase_payer($1)', [user]);
const deleteUser = (id: string) => db.admin.query('delete from auth.users where id = $1', [id]);
const rowsOf = async (table: string, user: string): Promise<Record<string, unknown>[]> =>
  (await db.admin.query(`select * from ${table} where user_id = $1`, [user])).rows;
const balance = async (): Promise<unknown> =>
  (
    await db.admin.query(
      'select kind, sum(payment_ledger.amount_minor)::int as sum, count(*)::int from payment_ledger join payments on payments.id = payment_id group by 1 order by 1',
    )
  ).rows;

test('replaces the user in each ledger by one random id and keeps figures, references and order', async () => {
  const before = await Promise.all(LEDGERS.map((table) => rowsOf(table, leaver)));
  const money = await balance();
  await deleteUser(leaver);
  const { rows } = await db.database
    .asService('test')
    .statement<{ nobody: string }>('select public.erase_payer($1) as nobody', [leaver]);
  const { nobody } = rows[0]!;
  for (const [index, table] of LEDGERS.entries()) {
    expect(await rowsOf(table, leaver)).toEqual([]);
    const erased = { user_id: nobody, ...(table === 'payments' && PAYMENT_WITHOUT_BUYER) };
    expect(await rowsOf(table, nobody)).toEqual(before[index]!.map((row) => ({ ...row, ...erased })));
  }
  expect(await balance()).toEqual(money);
});
const PAYMENT_WITHOUT_BUYER = { country: null, approval_url: null, debug_id: null, mail_due_at: null };

test("leaves other users' rows unchanged", async () => {
  const before = await Promise.all(LEDGERS.map((table) => rowsOf(table, other)));
  await deleteUser(leaver);
  await erase(leaver);
  expect(await Promise.all(LEDGERS.map((table) => rowsOf(table, other)))).toEqual(before);
});

test('rejects a user whose account exists', async () => {
  expect(await erase(leaver)).toBe(RESTRICTED);
  expect(await rowsOf('payments', leaver)).toHaveLength(1);
});

test.each(ACTORS)('the %s user cannot call erase_payer', async (actor) => {
  expect(await runAs(db.database, actor, 'select public.erase_payer($1)', [leaver])).toBe(REFUSED);
});

describe('without erase_payer, and with the setting hustle_forge.erased_user that it would set,', () => {
  const UPDATES = [
    ['payments', 'user_id = gen_random_uuid()'],
    ['payments', 'country = null'],
    ['plan_changes', 'user_id = gen_random_uuid()'],
    ['plan_uses', 'user_id = gen_random_uuid()'],
  ] as const;

  test.each(UPDATES)('the service cannot change %s: set %s', async (table, change) => {
    const outcome = db.database.transactAsService('test', async (transaction) => {
      await transaction.statement("select set_config('hustle_forge.erased_user', $1, true)", [leaver]);
      await transaction.statement(`update public.${table} set ${change} where user_id = $1`, [leaver]);
    });
    await expect(outcome).rejects.toMatchObject({ code: table === 'payments' ? RESTRICTED : REFUSED });
  });

  test.each([
    ['payments', 'amount_minor = 1'],
    ['payments', "status = 'refunded'"],
    ['payments', 'capture_id = null'],
    ['plan_changes', "reason = 'operator grant'"],
    ['plan_uses', "kind = 'analysis'"],
  ])('the owner changes nothing else of %s: set %s', async (table, change) => {
    const owner = db.database.asOwner('test', async (client) => {
      await client.query('begin');
      await client.query("select set_config('hustle_forge.erased_user', $1, true)", [leaver]);
      await client.query(`update public.${table} set ${change} where user_id = $1`, [leaver]);
    });
    await expect(owner).rejects.toMatchObject({ code: RESTRICTED });
  });

  test.each(['plan_changes', 'plan_uses'])('the owner cannot erase the user of other rows of %s', async (table) => {
    const owner = db.database.asOwner('test', async (client) => {
      await client.query('begin');
      await client.query("select set_config('hustle_forge.erased_user', $1, true)", [leaver]);
      await client.query('set local row_security = on');
      return (await client.query(`update public.${table} set user_id = gen_random_uuid() where user_id = $1`, [other]))
        .rowCount;
    });
    // A superuser passes row-level security and is stopped by the trigger.
    await expect(owner.catch((error: { code: string }) => error.code)).resolves.toSatisfy((outcome) =>
      [0, RESTRICTED].includes(outcome as number | string),
    );
  });
});

test('update, delete and truncate of the ledgers stay refused, also for a superuser', async () => {
  for (const table of ['plan_changes', 'plan_uses']) {
    for (const text of [
      `update ${table} set user_id = gen_random_uuid()`,
      `delete from ${table}`,
      `truncate ${table}`,
    ]) {
      await expect(db.admin.query(text), text).rejects.toMatchObject({ code: RESTRICTED });
    }
  }
});

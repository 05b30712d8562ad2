import { beforeEach, describe, expect, test } from 'vitest';
import { EMAIL, setUpAdmin } from '../../../tests/support/commands/admin-commands.ts';

const world = setUpAdmin();

describe('a payment', () => {
  let id = '';
  beforeEach(async () => {
    const { rows } = await world.database.admin.query<{ id: string }>(
      `insert into payments (user_id, amount_minor, currency, country, status, order_id, completed_at)
       select id, 2400, 'USD', 'DE', 'completed', gen_random_uuid(), now() - interval '3 days' from auth.users
        where email = $1 returning id`,
      [EMAIL],
    );
    id = rows[0]!.id;
  });

  const requested = async (): Promise<boolean> => {
    const { rows } = await world.database.admin.query('select refund_requested_at from payments where id = $1', [id]);
    return rows[0].refund_requested_at !== null;
  };
  const uses = (kind: string, count: number): Promise<unknown> =>
    world.database.admin.query(
      'insert into plan_uses (user_id, kind) select id, $2 from auth.users, generate_series(1, $3) where email = $1',
      [EMAIL, kind, count],
    );

  test('is listed with its id', async () => {
    const { code, stdout } = await world.admin('payments', EMAIL);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\d  24\\.00  USD  completed  DE  `, 'm'));
  });

  test('is refunded by the server within the period of withdrawal', async () => {
    const { code, stdout } = await world.admin('refund', id);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '24.00 USD is on its way back: the server asks PayPal within a minute, and until it is done.\n',
    });
    expect(await requested()).toBe(true);
  });

  test('is refunded outside of the right of withdrawal only with --anyway', async () => {
    await uses('analysis', 4);
    const refused = await world.admin('refund', id);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('more than 3 analyses') });
    expect(await requested()).toBe(false);
    expect(await world.admin('refund', id, '--anyway')).toMatchObject({ code: 0 });
    expect(await requested()).toBe(true);
  });

  test('that is incomplete or unknown is not refunded', async () => {
    await world.database.admin.query("update payments set status = 'refunded' where id = $1", [id]);
    for (const [payment, words] of [
      [id, 'This payment is refunded'],
      ['00000000-0000-4000-8000-000000000001', 'There is no payment'],
      ['24.00', 'names no payment'],
    ] as const) {
      expect(await world.admin('refund', payment, '--anyway')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(words),
      });
    }
  });
});

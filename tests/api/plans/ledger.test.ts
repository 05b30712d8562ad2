/** Payments and plan changes: each user reads only their own rows through the API, and no client writes them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, earliestToday } from '#domain/day/day.ts';
import { changePlan } from '#server/plans/change-plan.ts';
import { KINDS, startPlanWorld, type PlanWorld } from './fixture.ts';

const TODAY = earliestToday(new Date());
const TABLES = ['payments', 'plan_changes'] as const;

let world: PlanWorld;
beforeAll(async () => {
  world = await startPlanWorld();
  await world.resetPlans(TODAY);
  for (const kind of KINDS) {
    const { id } = world.people[kind];
    await world.server.admin.query(
      `insert into public.payments (user_id, amount_minor, currency, status) values ($1, 2400, 'USD', 'completed')`,
      [id],
    );
    await changePlan(world.server.database, { userId: id, plan: 'free', accessValidUntil: null, reason: 'refund' });
  }
  await world.resetPlans(TODAY);
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

async function readAll(): Promise<unknown> {
  const tables = [...TABLES, 'payment_changes', 'payment_ledger', 'payment_events', 'plan_reminders'];
  const read = tables.map((table) => world.server.admin.query(`select * from public.${table} order by 1, 2`));
  return (await Promise.all(read)).map(({ rows }) => rows);
}

test.each(KINDS)('a user with the plan %s reads only their own rows', async (kind) => {
  const { client, id } = world.people[kind];
  for (const table of TABLES) {
    const { data, error } = await client.from(table).select('user_id');
    expect({ data, error }).toEqual({ data: [{ user_id: id }], error: null });
    const others = client.from(table).select('*', { count: 'exact' }).neq('user_id', id);
    expect(await others).toMatchObject({ data: [], count: 0 });
  }
});

test('a guest reads no row', async () => {
  for (const table of TABLES) {
    const { data, status } = await world.guest.from(table).select();
    expect([status, data]).toEqual([401, null]);
  }
});

test.each(['payment_changes', 'payment_events', 'payment_ledger', 'plan_reminders', 'plan_uses'])(
  '%s is not exposed to any client',
  async (table) => {
    for (const client of [world.people.endless.client, world.guest]) {
      expect(await client.from(table).select()).toMatchObject({ status: 404, error: { code: 'PGRST205' } });
    }
  },
);

test.each([...KINDS, 'guest'] as const)('%s writes no row', async (kind) => {
  const [client, id] =
    kind === 'guest' ? [world.guest, world.people.free.id] : [world.people[kind].client, world.people[kind].id];
  const before = await readAll();
  const rows: Record<(typeof TABLES)[number], Record<string, unknown>[]> = {
    payments: [
      { user_id: id, amount_minor: 2400, currency: 'USD', status: 'completed' },
      { status: 'completed', completed_at: new Date().toISOString() },
      { country: 'DE' },
      { amount_minor: 1 },
    ],
    plan_changes: [
      { user_id: id, plan: 'premium', access_valid_until: addDays(TODAY, 365), reason: 'payment' },
      { plan: 'premium' },
      { access_valid_until: null },
    ],
  };
  const denied = { status: kind === 'guest' ? 401 : 403, error: { code: '42501' } };
  for (const table of TABLES) {
    for (const row of rows[table]) {
      expect(await client.from(table).insert(row)).toMatchObject(denied);
      expect(await client.from(table).upsert(row)).toMatchObject(denied);
      expect(await client.from(table).upsert(row, { ignoreDuplicates: true })).toMatchObject(denied);
      expect(await client.from(table).update(row).eq('user_id', id)).toMatchObject(denied);
    }
    expect(await client.from(table).delete().eq('user_id', id)).toMatchObject(denied);
  }
  expect(await readAll()).toEqual(before);
});

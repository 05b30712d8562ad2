import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addDays, earliestToday, type Day } from '#domain/day/day.ts';
import { expirePlans } from '#server/plans/change-plan.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

const db = setUpTestDatabase();

const now = new Date('2026-11-21T12:00:00Z');
const clock = { now: () => now };
const today = earliestToday(now);

async function createUser(plan: 'free' | 'premium', until: Day | null): Promise<string> {
  const id = randomUUID();
  await db.admin.query('insert into auth.users (id) values ($1)', [id]);
  await db.admin.query('update profiles set subscription_plan = $2, access_valid_until = $3 where id = $1', [
    id,
    plan,
    until,
  ]);
  return id;
}

async function planOf(id: string): Promise<unknown> {
  const { rows } = await db.admin.query(
    `select subscription_plan as plan, access_valid_until as until,
            (select json_agg(reason) from plan_changes where user_id = profiles.id) as reasons from profiles where id = $1`,
    [id],
  );
  return rows[0];
}

test('a plan expires when its last day has ended in every time zone', async () => {
  const lastDay = await createUser('premium', today);
  const expired = await createUser('premium', addDays(today, -1));
  const endless = await createUser('premium', null);
  const free = await createUser('free', addDays(today, -400));

  expect(await expirePlans(db.database, clock)).toBe(1);
  expect(await planOf(expired)).toEqual({ plan: 'free', until: null, reasons: ['expiry'] });
  expect(await planOf(lastDay)).toEqual({ plan: 'premium', until: today, reasons: null });
  expect(await planOf(endless)).toEqual({ plan: 'premium', until: null, reasons: null });
  expect(await planOf(free)).toEqual({ plan: 'free', until: addDays(today, -400), reasons: null });
});

test('concurrent runs record an expiry once', async () => {
  const expired = await createUser('premium', addDays(today, -1));
  const counts = await Promise.all([1, 2, 3].map(() => expirePlans(db.database, clock)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(await planOf(expired)).toEqual({ plan: 'free', until: null, reasons: ['expiry'] });
});

import { expect, test } from 'vitest';
import { addDays, latestToday } from '#domain/day/day.ts';
import { EMAIL, setUpAdmin } from '../../../tests/support/commands/admin-commands.ts';

const world = setUpAdmin();

async function plan(): Promise<unknown> {
  const { rows } = await world.database.admin.query<object>(
    `select subscription_plan, access_valid_until::text from public.profiles
     join auth.users using (id) where email = $1`,
    [EMAIL],
  );
  return rows[0];
}

test('plan:grant and plan:revoke change the plan and record each change', async () => {
  expect(await world.admin('plan:grant', EMAIL)).toMatchObject({
    code: 0,
    stdout: `${EMAIL} is a Closer without end.\n`,
  });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: null });
  expect(await world.admin('plan:revoke', EMAIL)).toMatchObject({ code: 0 });

  const until = addDays(latestToday(new Date()), 30);
  expect(await world.admin('plan:grant', ` ${EMAIL.toUpperCase()}`, '--days', '30')).toMatchObject({ code: 0 });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: until });

  expect(await world.admin('plan:revoke', EMAIL)).toMatchObject({ code: 0, stdout: `${EMAIL} is a Dabbler.\n` });
  expect(await plan()).toEqual({ subscription_plan: 'free', access_valid_until: null });

  const { rows } = await world.database.admin.query(
    'select plan, access_valid_until::text, reason from plan_changes order by id',
  );
  expect(rows).toEqual([
    { plan: 'premium', access_valid_until: null, reason: 'operator grant' },
    { plan: 'free', access_valid_until: null, reason: 'operator revocation' },
    { plan: 'premium', access_valid_until: until, reason: 'operator grant' },
    { plan: 'free', access_valid_until: null, reason: 'operator revocation' },
  ]);
});

test('plan:grant --days never shortens a plan', async () => {
  const inDays = (days: number): string => addDays(latestToday(new Date()), days);
  const grantDays = (days: number) => world.admin('plan:grant', EMAIL, '--days', String(days));
  const steps = async () => (await world.database.admin.query('select 1 from plan_changes')).rowCount;
  await world.admin('plan:revoke', EMAIL);
  await grantDays(30);
  expect(await grantDays(40)).toMatchObject({ stdout: `${EMAIL} is a Closer until ${inDays(40)}.\n` });
  const before = await steps();
  expect(await grantDays(20)).toMatchObject({
    code: 0,
    stdout: `${EMAIL} stays a Closer until ${inDays(40)}, which is later than ${inDays(20)}: nothing changes.\n`,
  });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: inDays(40) });
  expect(await steps()).toBe(before);

  await world.admin('plan:grant', EMAIL);
  expect(await grantDays(20)).toMatchObject({
    stdout: `${EMAIL} stays a Closer without end, which is later than ${inDays(20)}: nothing changes.\n`,
  });
  expect(await plan()).toEqual({ subscription_plan: 'premium', access_valid_until: null });
});

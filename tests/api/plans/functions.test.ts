/** Access to the server functions of the paid plan, for each kind of user and up to the plan's last valid day. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { day, earliestToday } from '#domain/day/day.ts';
import type { WireResponse, Person } from '../data/fixture.ts';
import { FREE_KINDS, PREMIUM_KINDS, startPlanWorld, type PlanWorld } from './fixture.ts';

const AT = new Date('2026-03-08T06:59:59.999Z');
const TODAY = earliestToday(AT);

let world: PlanWorld;
beforeAll(async () => {
  world = await startPlanWorld();
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const FUNCTIONS: readonly (readonly [name: string, body: unknown])[] = [['record-export', {}]];
const call = (person: Person | null, name: string, body: unknown): Promise<WireResponse> =>
  world.request(person, 'POST', `/functions/v1/${name}`, { body });

/** The rows that the functions write, with their owners. */
async function readWritten(): Promise<unknown> {
  const { rows } = await world.server.admin.query(
    `select user_id, date::text as what, hustle_score from public.entries
     union all select user_id, kind || id, null from public.plan_uses order by 1, 2`,
  );
  return rows;
}

describe.each(FUNCTIONS)('%s', (name, body) => {
  test.each(FREE_KINDS)('rejects the plan %s and writes nothing', async (kind) => {
    await world.clock.set(AT.toISOString());
    await world.resetPlans(TODAY);
    const before = await readWritten();
    for (const asked of [body, { ...(body as object), user_id: world.people.endless.id, premium: true }]) {
      expect(await call(world.people[kind], name, asked)).toMatchObject({ status: 403, json: { success: false } });
    }
    expect(await readWritten()).toEqual(before);
  });

  test.each(PREMIUM_KINDS)('accepts the plan %s', async (kind) => {
    await world.clock.set(AT.toISOString());
    await world.resetPlans(TODAY);
    const before = await readWritten();
    expect(await call(world.people[kind], name, body)).toMatchObject({ status: 200, json: { success: true } });
    expect(await readWritten()).not.toEqual(before);
  });

  test('accepts a premium user until the last valid day has ended everywhere', async () => {
    const { premium } = world.people;
    await world.resetPlans(day('2026-03-08'));
    await world.clock.set('2026-03-09T11:59:59.999Z');
    expect((await call(premium, name, body)).status).toBe(200);
    await world.clock.set('2026-03-09T12:00:00.000Z');
    expect((await call(premium, name, body)).status).toBe(403);
  });

  test('answers 401 to a guest', async () => {
    expect((await call(null, name, body)).status).toBe(401);
  });
});

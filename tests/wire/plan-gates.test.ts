/** Which days each kind of user reads and writes through the wire, at every edge of a day on Earth. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addDays, day, dayOf, earliestToday, latestToday } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import { FREE_WINDOW_DAYS } from '#domain/plan.ts';
import { changePlan } from '#server/plans/change-plan.ts';
import { dayAtOffset, LOCAL_DAYS, offsetName, OFFSETS } from '../support/local-days.ts';
import type { Person } from './data-world.ts';
import { daysUntil, FREE_KINDS, KINDS, PREMIUM_KINDS, startPlanWorld } from './plan-world.ts';
import type { PlanWorld } from './plan-world.ts';

let world: PlanWorld;
beforeAll(async () => {
  world = await startPlanWorld();
});
afterEach(() => world.clock.release());
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const entries = (person: Person) => person.client.from('entries');
const row = (person: Person, date: Day) => ({ user_id: person.id, date, content: `<p>${date}</p>` });
const REFUSED = { status: 403, error: { code: '42501' } };

async function daysRead(person: Person): Promise<Day[]> {
  const { data, error } = await entries(person).select('date').order('date');
  expect(error).toBeNull();
  return (data as { date: Day }[]).map(({ date }) => date);
}

/** The user begins every day of the window, reads it back, changes it and deletes it, as their own calendar has it. */
async function expectOpen(person: Person, today: Day): Promise<void> {
  const own = daysUntil(today, FREE_WINDOW_DAYS);
  await world.server.admin.query('delete from public.entries where user_id = $1', [person.id]);
  const begun = await entries(person).insert(own.map((date) => row(person, date)));
  expect(begun).toMatchObject({ status: 201, error: null });
  expect(await daysRead(person)).toEqual(own);
  const [first, last] = [own[0]!, own.at(-1)!];
  const window = entries(person).select('*', { count: 'exact', head: true }).gte('date', first).lte('date', last);
  expect(await window).toMatchObject({ count: FREE_WINDOW_DAYS });
  const changed = entries(person).update({ content: '<p>again</p>' }, { count: 'exact' }).gte('date', first);
  expect(await changed).toMatchObject({ status: 204, count: FREE_WINDOW_DAYS });
  expect(await entries(person).upsert([row(person, first), row(person, last)])).toMatchObject({ error: null });
  expect(await entries(person).delete({ count: 'exact' }).lte('date', last)).toMatchObject({ count: FREE_WINDOW_DAYS });
}

describe('no user is refused a day that is right where they are', () => {
  // Each local midnight lies at one of these instants somewhere, and the edges of the server's window at two of them.
  describe.each(OFFSETS)('%d minutes from UTC', (offset) => {
    const name = offsetName(offset);
    test.each([
      [`just before midnight in ${name}`, -1],
      [`at midnight in ${name}`, 0],
    ])('%s', async (_when, ms) => {
      const at = new Date(Date.parse('2026-03-29T00:00:00Z') - offset * 60_000 + ms);
      await world.clock.set(at.toISOString());
      await world.settle(earliestToday(at));
      await expectOpen(world.people.free, dayAtOffset(at, offset));
    });
  });

  test.each(LOCAL_DAYS)('in $zone at $instant, where it is $today', async ({ instant, today }) => {
    await world.clock.set(instant);
    await world.settle(earliestToday(new Date(instant)));
    await expectOpen(world.people.free, today);
  });

  test.each(FREE_KINDS)('a plan of kind %s, from the first zone to the last', async (kind) => {
    const at = new Date('2026-10-25T00:59:59.999Z');
    await world.clock.set(at.toISOString());
    await world.settle(earliestToday(at));
    for (const offset of OFFSETS) await expectOpen(world.people[kind], dayAtOffset(at, offset));
  });

  test('by the clock on the wall, now, in every zone', async () => {
    await whileTodayStands(async (now) => {
      await world.settle(earliestToday(now));
      for (const offset of OFFSETS) await expectOpen(world.people.free, dayAtOffset(now, offset));
      await expectOpen(world.people.free, dayOf(now));
    });
  });
});

/** Twice a day a day begins somewhere: what was asked across that moment is asked again. */
async function whileTodayStands(ask: (now: Date) => Promise<void>): Promise<void> {
  const now = new Date();
  const days = (at: Date) => `${earliestToday(at)} ${latestToday(at)}`;
  try {
    await ask(now);
  } catch (error) {
    if (days(now) === days(new Date())) throw error;
    await ask(new Date());
  }
}

/** The clocks of Berlin have changed in the night, and the 28th has just ended everywhere. */
const AT = new Date('2026-03-29T12:00:00Z');
const FIRST = earliestToday(AT);
/** Each of these is open somewhere: one more than anybody has. */
const OPEN = daysUntil(latestToday(AT), FREE_WINDOW_DAYS + 1);
const LOCKED = addDays(FIRST, -FREE_WINDOW_DAYS);
const LONG_AGO = day('2016-02-29');

describe('what was written before', () => {
  const before = [LONG_AGO, addDays(LOCKED, -1), LOCKED];

  test.each(FREE_KINDS)('is out of the reach of %s, to the day', async (kind) => {
    await world.clock.set(AT.toISOString());
    await world.settle(FIRST);
    const person = world.people[kind];
    await world.wrote(person, [...before, ...OPEN]);
    expect(await daysRead(person)).toEqual(OPEN);
    expect(await entries(person).delete({ count: 'exact' }).neq('date', '0001-01-01')).toMatchObject({
      count: OPEN.length,
    });
    expect(await stored(person)).toEqual(before);
  });

  test.each(PREMIUM_KINDS)('is open to %s', async (kind) => {
    await world.clock.set(AT.toISOString());
    await world.settle(FIRST);
    const person = world.people[kind];
    await world.wrote(person, before);
    expect(await daysRead(person)).toEqual(before);
    const changed = entries(person).update({ content: '<p>again</p>' }, { count: 'exact' });
    expect(await changed.lte('date', LOCKED)).toMatchObject({ count: before.length });
    expect(await entries(person).insert(row(person, day('0001-01-01')))).toMatchObject({ status: 201 });
  });
});

describe.each(KINDS)('a day that has begun nowhere, for %s', (kind) => {
  /** In a millisecond a day begins, at UTC+14. */
  const at = new Date('2026-03-29T09:59:59.999Z');
  const last = latestToday(at);
  const notBegun = addDays(last, 1);

  test.each(['insert', 'upsert', 'move', 'among others'])('%s', async (way) => {
    await world.clock.set(at.toISOString());
    await world.settle(earliestToday(at));
    const person = world.people[kind];
    await world.wrote(person, [last]);
    const ways: Record<string, () => PromiseLike<unknown>> = {
      insert: () => entries(person).insert(row(person, notBegun)),
      upsert: () => entries(person).upsert(row(person, notBegun)),
      move: () => entries(person).update({ date: notBegun }).eq('date', last),
      'among others': () => entries(person).upsert([row(person, addDays(last, -1)), row(person, notBegun)]),
    };
    expect(await ways[way]!()).toMatchObject(REFUSED);
    expect(await stored(person)).toEqual([last]);
    // A millisecond later it has begun somewhere, and the same is done.
    await world.clock.set('2026-03-29T10:00:00.000Z');
    expect(await ways[way]!()).toMatchObject({ error: null });
    expect(await stored(person)).toContain(notBegun);
  });
});

async function stored(person: Person): Promise<Day[]> {
  const text = 'select date from public.entries where user_id = $1 order by date';
  return (await world.server.admin.query<{ date: Day }>(text, [person.id])).rows.map(({ date }) => date);
}

describe('the last valid day', () => {
  const until = day('2026-03-29');

  test.each([...OFFSETS])('is a whole one, %d minutes from UTC', async (offset) => {
    const lastMoment = new Date(Date.parse('2026-03-30T00:00:00Z') - offset * 60_000 - 1);
    await world.settle(until);
    await world.wrote(world.people.premium, [LONG_AGO]);
    await world.clock.set(lastMoment.toISOString());
    expect(await daysRead(world.people.premium)).toEqual([LONG_AGO]);
    expect(await entries(world.people.premium).upsert(row(world.people.premium, LONG_AGO))).toMatchObject({
      status: 200,
    });
  });

  test('ends where it ends last, and nothing is lost', async () => {
    const { premium } = world.people;
    await world.settle(until);
    await world.wrote(premium, [LONG_AGO, until]);
    await world.clock.set('2026-03-30T11:59:59.999Z');
    expect(await daysRead(premium)).toEqual([LONG_AGO, until]);
    await world.clock.set('2026-03-30T12:00:00.000Z');
    expect(await daysRead(premium)).toEqual([until]);
    expect(await entries(premium).upsert(row(premium, LONG_AGO))).toMatchObject(REFUSED);
    expect(await stored(premium)).toEqual([LONG_AGO, until]);
  });
});

describe('a plan that comes and goes', () => {
  test('locks and opens the same logs, word for word', async () => {
    const { free } = world.people;
    await world.clock.set(AT.toISOString());
    await world.settle(FIRST);
    await world.wrote(free, [LONG_AGO, LOCKED, ...OPEN]);
    const all = 'select id, date, content, revision, updated_at from public.entries where user_id = $1 order by date';
    const before = (await world.server.admin.query(all, [free.id])).rows;
    const become = (plan: 'free' | 'premium', accessValidUntil: Day | null, reason: string) =>
      changePlan(world.server.database, { userId: free.id, plan, accessValidUntil, reason });

    for (const [plan, until, reason, open] of [
      ['premium', addDays(FIRST, 365), 'payment', true],
      ['free', null, 'refund', false],
      ['premium', FIRST, 'payment', true],
      ['premium', addDays(FIRST, -1), 'operator grant', false],
      ['free', null, 'expiry', false],
      ['premium', null, 'operator grant', true],
    ] as const) {
      await become(plan, until, reason);
      expect(await daysRead(free)).toEqual(open ? [LONG_AGO, LOCKED, ...OPEN] : OPEN);
      const { data } = await free.client.from('profiles').select('subscription_plan,access_valid_until').single();
      expect(data).toEqual({ subscription_plan: plan, access_valid_until: until });
    }
    const after = await entries(free).select('id,date,content,revision').order('date');
    expect(after.data).toEqual(before.map(({ id, date, content, revision }) => ({ id, date, content, revision })));
    expect((await world.server.admin.query(all, [free.id])).rows).toEqual(before);
  });
});

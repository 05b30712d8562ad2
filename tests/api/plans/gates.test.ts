/**
 * The days that each kind of user reads and writes through the API. `tests/policies/local-days.test.ts` proves the same
 * rule for every time zone, and `tests/policies/days.test.ts` proves that the policies follow it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addDays, day, dayOf, earliestCurrentDay, earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import { FREE_WINDOW_DAYS } from '#domain/plan/plan.ts';
import { expirePlans, changePlan, grantPaidYear, withdrawPaidYear } from '#server/plans/change-plan.ts';
import { dayAtOffset, offsetName } from '../../support/local-days.ts';
import type { Person } from '../data/fixture.ts';
import { daysUntil, FREE_KINDS, PREMIUM_KINDS, startPlanWorld, type PlanWorld } from './fixture.ts';

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

/** Inserts, reads, updates and deletes every day of the free window in the user's own calendar. */
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

/** UTC offsets in minutes: the last zone to begin a day, UTC, an offset of no whole hours, and the first zone. */
const EDGE_OFFSETS = [-12 * 60, 0, 5 * 60 + 45, 14 * 60];

describe('a user writes every day of the local window', () => {
  describe.each(EDGE_OFFSETS)('%d minutes from UTC', (offset) => {
    const name = offsetName(offset);
    test.each([
      [`just before midnight in ${name}`, -1],
      [`at midnight in ${name}`, 0],
    ])('%s', async (_when, ms) => {
      const at = new Date(Date.parse('2026-03-29T00:00:00Z') - offset * 60_000 + ms);
      await world.clock.set(at.toISOString());
      await world.resetPlans(earliestToday(at));
      await expectOpen(world.people.free, dayAtOffset(at, offset));
    });
  });

  test.each(FREE_KINDS)('from the first zone to the last, with the plan %s', async (kind) => {
    const at = new Date('2026-10-25T00:59:59.999Z');
    await world.clock.set(at.toISOString());
    await world.resetPlans(earliestToday(at));
    for (const offset of EDGE_OFFSETS) await expectOpen(world.people[kind], dayAtOffset(at, offset));
  });

  test('from the first zone to the last at the current time', async () => {
    await withinOneDay(async (now) => {
      await world.resetPlans(earliestToday(now));
      for (const offset of EDGE_OFFSETS) await expectOpen(world.people.free, dayAtOffset(now, offset));
      await expectOpen(world.people.free, dayOf(now));
    });
  });
});

/** Repeats a failed `ask` once if the earliest or latest today changed meanwhile, which happens twice a day. */
async function withinOneDay(ask: (now: Date) => Promise<void>): Promise<void> {
  const now = new Date();
  const days = (at: Date) => `${earliestToday(at)} ${latestToday(at)}`;
  try {
    await ask(now);
  } catch (error) {
    if (days(now) === days(new Date())) throw error;
    await ask(new Date());
  }
}

/** Daylight saving time began in Berlin in the night, and the 28th has just ended everywhere. */
const AT = new Date('2026-03-29T12:00:00Z');
const FIRST = earliestToday(AT);
/** The free window begins with the day that has not ended where days end at 03:00. */
const LOCKED = addDays(earliestCurrentDay(AT), -FREE_WINDOW_DAYS);
/** The days that are open to some user: two days more than the free window of a single user. */
const OPEN = daysUntil(latestToday(AT), FREE_WINDOW_DAYS + 2);
const LONG_AGO = day('2016-02-29');

describe('a log before the free window', () => {
  const before = [LONG_AGO, addDays(LOCKED, -1), LOCKED];

  test.each(FREE_KINDS)('cannot be read or deleted by the plan %s, to the day', async (kind) => {
    await world.clock.set(AT.toISOString());
    await world.resetPlans(FIRST);
    const person = world.people[kind];
    await world.insertLogs(person, [...before, ...OPEN]);
    expect(await daysRead(person)).toEqual(OPEN);
    expect(await entries(person).delete({ count: 'exact' }).neq('date', '0001-01-01')).toMatchObject({
      count: OPEN.length,
    });
    expect(await readStoredDays(person)).toEqual(before);
  });

  test.each(PREMIUM_KINDS)('can be read and changed by the plan %s', async (kind) => {
    await world.clock.set(AT.toISOString());
    await world.resetPlans(FIRST);
    const person = world.people[kind];
    await world.insertLogs(person, before);
    expect(await daysRead(person)).toEqual(before);
    const changed = entries(person).update({ content: '<p>again</p>' }, { count: 'exact' });
    expect(await changed.lte('date', LOCKED)).toMatchObject({ count: before.length });
    expect(await entries(person).insert(row(person, day('0001-01-01')))).toMatchObject({ status: 201 });
  });
});

describe.each(['free', 'endless'] as const)('a day that has begun nowhere cannot be written by the plan %s', (kind) => {
  /** One millisecond before a day begins at UTC+14. */
  const at = new Date('2026-03-29T09:59:59.999Z');
  const last = latestToday(at);
  const notBegun = addDays(last, 1);

  test.each(['insert', 'upsert', 'move', 'in a bulk upsert'])('%s', async (way) => {
    await world.clock.set(at.toISOString());
    await world.resetPlans(earliestToday(at));
    const person = world.people[kind];
    await world.insertLogs(person, [last]);
    const ways: Record<string, () => PromiseLike<unknown>> = {
      insert: () => entries(person).insert(row(person, notBegun)),
      upsert: () => entries(person).upsert(row(person, notBegun)),
      move: () => entries(person).update({ date: notBegun }).eq('date', last),
      'in a bulk upsert': () => entries(person).upsert([row(person, addDays(last, -1)), row(person, notBegun)]),
    };
    expect(await ways[way]!()).toMatchObject(REFUSED);
    expect(await readStoredDays(person)).toEqual([last]);
    // A millisecond later the day has begun somewhere, and the same request succeeds.
    await world.clock.set('2026-03-29T10:00:00.000Z');
    expect(await ways[way]!()).toMatchObject({ error: null });
    expect(await readStoredDays(person)).toContain(notBegun);
  });
});

async function readStoredDays(person: Person): Promise<Day[]> {
  const text = 'select date from public.entries where user_id = $1 order by date';
  return (await world.server.admin.query<{ date: Day }>(text, [person.id])).rows.map(({ date }) => date);
}

describe('the last valid day', () => {
  const until = day('2026-03-29');

  test.each(EDGE_OFFSETS)('stays open until local midnight, %d minutes from UTC', async (offset) => {
    const lastMoment = new Date(Date.parse('2026-03-30T00:00:00Z') - offset * 60_000 - 1);
    await world.resetPlans(until);
    await world.insertLogs(world.people.premium, [LONG_AGO]);
    await world.clock.set(lastMoment.toISOString());
    expect(await daysRead(world.people.premium)).toEqual([LONG_AGO]);
    expect(await entries(world.people.premium).upsert(row(world.people.premium, LONG_AGO))).toMatchObject({
      status: 200,
    });
  });

  test('ends at the last midnight on Earth, and keeps the logs', async () => {
    const { premium } = world.people;
    await world.resetPlans(until);
    await world.insertLogs(premium, [LONG_AGO, until]);
    await world.clock.set('2026-03-30T11:59:59.999Z');
    expect(await daysRead(premium)).toEqual([LONG_AGO, until]);
    await world.clock.set('2026-03-30T12:00:00.000Z');
    expect(await daysRead(premium)).toEqual([until]);
    expect(await entries(premium).upsert(row(premium, LONG_AGO))).toMatchObject(REFUSED);
    expect(await readStoredDays(premium)).toEqual([LONG_AGO, until]);
  });
});

describe('a plan that comes and goes', () => {
  const logs = [LONG_AGO, LOCKED, ...OPEN];
  const all = 'select * from public.entries where user_id = $1 order by date';
  const allOf = async (person: Person) => (await world.server.admin.query(all, [person.id])).rows as unknown;

  async function profileOf(person: Person): Promise<unknown> {
    return (await person.client.from('profiles').select('subscription_plan,access_valid_until').single()).data;
  }

  /** Inserts a completed payment and grants its year at `instant`. */
  async function payForYear(person: Person, instant: string): Promise<string> {
    const { rows } = await world.server.admin.query<{ id: string }>(
      `insert into public.payments (user_id, amount_minor, currency, status) values ($1, 2400, 'USD', 'completed')
       returning id`,
      [person.id],
    );
    const paymentId = rows[0]!.id;
    const year = { userId: person.id, paymentId, now: new Date(instant) };
    await world.server.database.transactAsService('test', (transaction) => grantPaidYear(transaction, year));
    return paymentId;
  }

  test('opens and locks the same logs every year, and keeps their text', async () => {
    const { free } = world.people;
    await world.clock.set(AT.toISOString());
    await world.resetPlans(FIRST);
    await world.insertLogs(free, logs);
    const before = await allOf(free);
    expect(await daysRead(free)).toEqual(OPEN);

    await payForYear(free, AT.toISOString());
    expect(await profileOf(free)).toEqual({ subscription_plan: 'premium', access_valid_until: '2027-03-30' });
    expect(await daysRead(free)).toEqual(logs);

    // The year ends when its last valid day ends at UTC-12. By then all logs are older than the free window.
    await world.clock.set('2027-03-31T11:59:59.999Z');
    expect(await daysRead(free)).toEqual(logs);
    await world.clock.set('2027-03-31T12:00:00.000Z');
    expect(await daysRead(free)).toEqual([]);
    const sweep = (instant: string) => expirePlans(world.server.database, { now: () => new Date(instant) });
    await sweep('2027-03-31T11:59:59.999Z');
    expect(await profileOf(free)).toEqual({ subscription_plan: 'premium', access_valid_until: '2027-03-30' });
    await sweep('2027-03-31T12:00:00.000Z');
    expect(await profileOf(free)).toEqual({ subscription_plan: 'free', access_valid_until: null });
    expect(await daysRead(free)).toEqual([]);
    expect(await allOf(free)).toEqual(before);

    const second = '2027-05-01T09:00:00.000Z';
    await world.clock.set(second);
    const paymentId = await payForYear(free, second);
    expect(await daysRead(free)).toEqual(logs);
    const year = { userId: free.id, paymentId, now: new Date(second) };
    await world.server.database.transactAsService('test', (transaction) =>
      withdrawPaidYear(transaction, year, 'refund'),
    );
    expect(await profileOf(free)).toEqual({ subscription_plan: 'free', access_valid_until: null });
    expect(await daysRead(free)).toEqual([]);
    expect(await allOf(free)).toEqual(before);

    const granted = { userId: free.id, plan: 'premium', accessValidUntil: null, reason: 'operator grant' } as const;
    await changePlan(world.server.database, granted);
    expect((await entries(free).select().order('date')).data).toMatchObject(
      logs.map((date) => ({ date, content: '<p>then</p>', revision: 1 })),
    );
    expect(await allOf(free)).toEqual(before);
  });
});

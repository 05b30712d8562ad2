/** A user's local today in every time zone and at clock changes: computed by the browser and accepted by SQL. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { currentDay } from '#domain/day/current-day.ts';
import { addDays, day, earliestCurrentDay, earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import { firstOpenDay, isPremium, type PlanColumns } from '#domain/plan/plan.ts';

import { createDatabaseClock, type DatabaseClock } from '../support/database-clock.ts';
import { dayAtOffset, LOCAL_DAYS, MIDNIGHTS, OFFSETS } from '../support/local-days.ts';
import { fuzzBudget } from '../support/fuzz-budget.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

import { identityOf, PEOPLE, resetFixtures } from './fixtures.ts';

const db = setUpTestDatabase();
let clock: DatabaseClock;
beforeAll(async () => {
  await resetFixtures(db.admin);
  clock = await createDatabaseClock(db.admin);
});

const HOUR = 3_600_000;
const zones = [...new Set(MIDNIGHTS.map(([zone]) => zone))];

/**
 * Instants in whole milliseconds, which PostgreSQL and JavaScript represent exactly. Since 2000 all time zones lie
 * within UTC-12 and UTC+14.
 */
const anyInstant = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
/** Instants within 2 ms of a local midnight, which random instants would rarely hit. */
const nearMidnight = fc
  .record({ date: anyInstant, offset: fc.constantFrom(...OFFSETS), ms: fc.integer({ min: -2, max: 2 }) })
  .map(({ date, offset, ms }) => new Date(Date.parse(date.toISOString().slice(0, 10)) - offset * 60_000 + ms));
const instants = fc.array(fc.oneof(anyInstant, nearMidnight), { minLength: 20, maxLength: 60 });

describe('the domain and SQL', () => {
  test('agree on earliest_today, earliest_current_day and latest_today at any instant', async () => {
    await fc.assert(
      fc.asyncProperty(instants, async (list) => {
        const { rows } = await db.admin.query(
          `select earliest_today(at) as first, earliest_current_day(at) as current, latest_today(at) as last
             from unnest($1::timestamptz[]) at`,
          [list.map((at) => at.toISOString())],
        );
        const inDomain = (at: Date) => ({
          first: earliestToday(at),
          current: earliestCurrentDay(at),
          last: latestToday(at),
        });
        expect(rows).toEqual(list.map(inDomain));
      }),
      { numRuns: fuzzBudget(40) },
    );
  });

  test('agree on is_premium and first_free_day before and after the end of a plan', async () => {
    const facts = fc.record({
      subscription_plan: fc.constantFrom('free' as const, 'premium' as const),
      daysLeft: fc.option(fc.integer({ min: -2, max: 2 })),
    });
    await fc.assert(
      fc.asyncProperty(nearMidnight, facts, async (at, { subscription_plan, daysLeft }) => {
        const today = earliestToday(at);
        const plan: PlanColumns = {
          subscription_plan,
          access_valid_until: daysLeft === null ? null : addDays(today, daysLeft),
        };
        await clock.set(at.toISOString());
        await db.admin.query('update profiles set subscription_plan = $2, access_valid_until = $3 where id = $1', [
          PEOPLE.free.id,
          plan.subscription_plan,
          plan.access_valid_until,
        ]);
        const { rows } = await db.database
          .asUser(identityOf('free'))
          .statement('select is_premium() as premium, first_free_day() as first', []);
        expect(rows).toEqual([{ premium: isPremium(plan, today), first: firstOpenDay(false, earliestCurrentDay(at)) }]);
      }),
      { numRuns: fuzzBudget(60) },
    );
    await clock.release();
  });

  test('share one clock: no policy calls now() or current_date itself', async () => {
    const { rows } = await db.admin.query(
      `select policyname from pg_policies where schemaname = 'public'
        and concat(qual, with_check) ~* 'now\\(|current_|localtime|_timestamp'`,
    );
    expect(rows).toEqual([]);
  });
});

describe("SQL accepts every user's local today and free window", () => {
  afterAll(() => clock.release());

  test.each(LOCAL_DAYS)('in $zone at $instant, where it is $today', async ({ instant, today }) => {
    await clock.set(instant);
    const { rows } = await db.admin.query(
      'select $1::date >= first_free_day() as "oldest is open", $2::date <= latest_today() as "newest has begun"',
      [firstOpenDay(false, today), today],
    );
    expect(rows).toEqual([{ 'oldest is open': true, 'newest has begun': true }]);
  });

  /** Honolulu is the westernmost zone with many users: its 02:30 lies 30 minutes after the last midnight on Earth. */
  test.each([
    ['Pacific/Honolulu', '2026-11-21T12:30:00Z', '2026-11-20'],
    ['Pacific/Pago_Pago', '2026-11-21T13:59:59Z', '2026-11-20'],
    ['Etc/GMT+12', '2026-11-21T14:59:59Z', '2026-11-20'],
    ['Etc/GMT+12', '2026-11-21T15:00:00Z', '2026-11-21'],
  ] as const)('in %s at %s, where days end at 03:00', async (zone, instant, today) => {
    expect(currentDay(new Date(instant), zone, 3)).toBe(today);
    await clock.set(instant);
    const oldest = firstOpenDay(false, day(today));
    const { rows } = await db.admin.query('select $1::date >= first_free_day() as "oldest is open"', [oldest]);
    expect(rows).toEqual([{ 'oldest is open': true }]);
  });

  test('in every time zone at any instant', () => {
    const allZones = Intl.supportedValuesOf('timeZone').map(localDayIn);
    fc.assert(
      fc.property(instants, fc.constantFrom(...allZones), (list, localDay) => {
        for (const at of list) {
          expect(localDay(at) >= earliestToday(at)).toBe(true);
          expect(localDay(at) <= latestToday(at)).toBe(true);
        }
      }),
      { numRuns: fuzzBudget(300) },
    );
  });

  test('and accepts no date that is today in no zone', () => {
    fc.assert(
      fc.property(instants, (list) => {
        for (const at of list) {
          const days = OFFSETS.map((offset) => dayAtOffset(at, offset)).sort();
          expect([days[0], days.at(-1)]).toEqual([earliestToday(at), latestToday(at)]);
        }
      }),
      { numRuns: fuzzBudget(100) },
    );
  });
});

function localDayIn(zone: string): (at: Date) => Day {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (at) => day(format.format(at));
}

/** Runs the browser's `dayOf` in a child process whose local time zone is `zone`. */
async function browserDaysIn(zone: string, at: readonly string[]): Promise<Day[]> {
  const module = new URL('../../src/domain/day/day.ts', import.meta.url).href;
  const program = `import { dayOf } from ${JSON.stringify(module)};
    console.log(JSON.stringify(JSON.parse(process.argv[1]).map((at) => dayOf(new Date(at)))));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program, JSON.stringify(at)],
    { env: { ...process.env, TZ: zone } },
  );
  return JSON.parse(stdout) as Day[];
}

describe.each(zones)('the browser in %s', (zone) => {
  test('starts each day at local midnight and counts no day twice', async () => {
    const listed = LOCAL_DAYS.filter((row) => row.zone === zone);
    const midnights = MIDNIGHTS.filter((row) => row[0] === zone).map(([, instant]) => Date.parse(instant));
    // Every 15 minutes, from 18 hours before each midnight to 18 hours after it.
    const around = midnights.flatMap((midnight) =>
      Array.from({ length: 145 }, (_, step) => new Date(midnight + (step - 72) * (HOUR / 4)).toISOString()),
    );
    const days = await browserDaysIn(zone, [...listed.map((row) => row.instant), ...around]);
    expect(days.slice(0, listed.length)).toEqual(listed.map((row) => row.today));
    const localDay = localDayIn(zone);
    expect(days.slice(listed.length)).toEqual(around.map((at) => localDay(new Date(at))));
  });
});

/** The domain and SQL implement the same day and plan rules: the test compares their results on the same rows. */
import { beforeAll, describe, expect, test } from 'vitest';

import { addDays, earliestCurrentDay, earliestToday, latestToday } from '#domain/day/day.ts';
import { firstOpenDay, FREE_WINDOW_DAYS, isLocked, isPremium } from '#domain/plan/plan.ts';

import { setUpTestDatabase } from '../support/set-up.ts';

import { runAs, DAY_LABELS, DAY_NAMES, DAYS, identityOf, PEOPLE, PERSON_NAMES, resetFixtures } from './fixtures.ts';

/** The earliest current day of a user, with which the window begins. */
const WINDOW_DAY = addDays(DAYS.firstOpen, FREE_WINDOW_DAYS - 1);

const db = setUpTestDatabase();
beforeAll(async () => {
  await resetFixtures(db.admin);
});

test.each([
  '2026-11-21T00:00:00.000Z',
  '2026-11-21T09:59:59.999Z',
  '2026-11-21T10:00:00.000Z',
  '2026-11-21T11:59:59.999Z',
  '2026-11-21T12:00:00.000Z',
  '2026-11-21T14:59:59.999Z',
  '2026-11-21T15:00:00.000Z',
  '2026-11-21T23:59:59.999Z',
  '2026-12-31T10:00:00.000Z',
  '2027-01-01T11:59:59.999Z',
  '2028-02-29T12:00:00.000Z',
  '2026-03-29T01:30:00.000Z',
])('earliest_today, earliest_current_day and latest_today match the domain at %s', async (instant) => {
  const select = 'select earliest_today($1) as first, earliest_current_day($1) as current, latest_today($1) as last';
  const { rows } = await db.admin.query(select, [instant]);
  const at = new Date(instant);
  expect(rows).toEqual([{ first: earliestToday(at), current: earliestCurrentDay(at), last: latestToday(at) }]);
});

describe.each(PERSON_NAMES)('for the %s user', (person) => {
  const { plan, until } = PEOPLE[person];
  const today = DAYS.earliestToday;
  const premium = isPremium({ subscription_plan: plan, access_valid_until: until }, today);

  test('is_premium and first_free_day match the domain', async () => {
    const { rows } = await db.database
      .asUser(identityOf(person))
      .statement('select is_premium() as premium, first_free_day() as first', []);
    expect(rows).toEqual([{ premium, first: DAYS.firstOpen }]);
  });

  test.each(DAY_NAMES.map((day) => [DAY_LABELS[day], day] as const))(
    'entries of %s are locked as in the domain',
    async (_label, day) => {
      const read = 'select * from entries where user_id = $1 and date = $2';
      const found = await runAs(db.database, person, read, [PEOPLE[person].id, DAYS[day]]);
      expect(found).toBe(isLocked(DAYS[day], premium, WINDOW_DAY) ? 0 : 1);
    },
  );
});

test('the free window is 30 days', () => {
  expect(firstOpenDay(false, WINDOW_DAY)).toBe(DAYS.firstOpen);
  expect(FREE_WINDOW_DAYS).toBe(30);
});

/** Policies of `time_off`, and the merging of ranges that meet. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { addDays, day, type Day } from '#domain/day/day.ts';
import { isTimeOff, type TimeOff } from '#domain/day/time-off.ts';
import { setUpTestDatabase } from '../support/set-up.ts';
import { fuzzBudget } from '../support/fuzz-budget.ts';
import { ACTORS, identityOf, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures, runAs } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

const CHECK_VIOLATION = '23514';
const INSERT = 'insert into time_off (user_id, first_day, last_day) values ($1, $2, $3)';
const FREE = PEOPLE.free.id;

async function rangesOf(id: string): Promise<TimeOff[]> {
  const select = 'select first_day, last_day from time_off where user_id = $1 order by first_day';
  return (await db.admin.query<TimeOff>(select, [id])).rows;
}

describe('time off', () => {
  test.each(ACTORS)('the %s user reads at most their own', async (actor) => {
    expect(await runAs(db.database, actor, 'select * from time_off')).toBe(actor === 'guest' ? REFUSED : 1);
  });

  test.each(PERSON_NAMES)('the %s user deletes only their own, even without a condition', async (person) => {
    expect(await runAs(db.database, person, 'delete from time_off')).toBe(1);
    const { rows } = await db.admin.query('select user_id from time_off order by user_id');
    expect(rows).toEqual(PERSON_NAMES.filter((name) => name !== person).map((name) => ({ user_id: PEOPLE[name].id })));
  });

  test('a user writes no range of another user, and merges with none', async () => {
    expect(await runAs(db.database, 'free', INSERT, [PEOPLE.premium.id, '2026-12-25', '2026-12-25'])).toBe(REFUSED);
    expect(await runAs(db.database, 'free', INSERT, [FREE, '2026-12-25', '2027-01-03'])).toBe(1);
    expect(await rangesOf(FREE)).toEqual([{ first_day: '2026-12-21', last_day: '2027-01-03' }]);
    expect(await rangesOf(PEOPLE.premium.id)).toEqual([{ first_day: '2026-12-21', last_day: '2026-12-31' }]);
    expect(await runAs(db.database, 'free', "update time_off set last_day = '2026-12-24'")).toBe(REFUSED);
  });

  test.each([
    ['that ends before it begins', '2026-12-02', '2026-12-01'],
    ['of more than ten years', '2026-01-01', '2036-01-02'],
    ['after the last date of the product', '9999-12-31', '10000-01-01'],
    ['before the first', '0001-12-31 BC', '0001-01-01'],
  ])('a range %s is rejected', async (_case, first, last) => {
    expect(await runAs(db.database, 'free', INSERT, [FREE, first, last])).toBe(CHECK_VIOLATION);
  });

  test('an account has at most 500 ranges', async () => {
    await db.admin.query(
      `insert into time_off (user_id, first_day, last_day)
       select $1, date '2000-01-01' + 2 * n, date '2000-01-01' + 2 * n from generate_series(1, 499) n`,
      [FREE],
    );
    expect(await runAs(db.database, 'free', INSERT, [FREE, '2030-01-01', '2030-01-01'])).toBe(CHECK_VIOLATION);
    // A range that meets others needs no room.
    expect(await runAs(db.database, 'free', INSERT, [FREE, '2027-01-01', '2027-01-01'])).toBe(1);
  });

  test('two devices that add ranges at one moment leave none that overlap', async () => {
    await db.admin.query('delete from time_off');
    const added = Array.from({ length: 12 }, (_, index) => [addDays(day('2027-03-01'), index), day('2027-03-14')]);
    const as = db.database.asUser(identityOf('free'));
    await Promise.all(added.map(([first, last]) => as.statement(INSERT, [FREE, first!, last!])));
    expect(await rangesOf(FREE)).toEqual([{ first_day: '2027-03-01', last_day: '2027-03-14' }]);
  });

  test('any ranges cover the days that were added, and neither overlap nor touch', async () => {
    const start = day('2026-02-20');
    const range = fc.tuple(fc.nat(60), fc.nat(12)).map(([from, length]): [Day, Day] => {
      const first = addDays(start, from);
      return [first, addDays(first, length)];
    });
    await fc.assert(
      fc.asyncProperty(fc.array(range, { minLength: 1, maxLength: 12 }), async (list) => {
        await db.admin.query('delete from time_off where user_id = $1', [FREE]);
        for (const [first, last] of list) await runAs(db.database, 'free', INSERT, [FREE, first, last]);
        const stored = await rangesOf(FREE);
        const added = list.map(([first_day, last_day]) => ({ first_day, last_day }));
        for (let date = start; date < addDays(start, 80); date = addDays(date, 1))
          expect(isTimeOff(stored, date)).toBe(isTimeOff(added, date));
        for (const [index, { last_day }] of stored.slice(0, -1).entries())
          expect(stored[index + 1]!.first_day > addDays(last_day, 1)).toBe(true);
      }),
      { numRuns: fuzzBudget(25) },
    );
  });

  test('deleting an account deletes its time off', async () => {
    await db.admin.query('delete from auth.users where id = $1', [FREE]);
    expect(await rangesOf(FREE)).toEqual([]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, day, type Day } from './day.ts';
import {
  checkTimeOff,
  countWorkdays,
  DEFAULT_WORKDAYS,
  isTimeOff,
  isWorkday,
  timeOffBetween,
  type TimeOff,
} from './time-off.ts';

const range = (first: string, last: string) => ({ first_day: day(first), last_day: day(last) });
const YEAR_END = [range('2026-12-21', '2026-12-31')];

/** Counts for a user whose first log is on `from`, as of the day after `to`. */
const workdayCount = (timeOff: readonly TimeOff[], workdays: readonly number[], from: Day, to: Day): number =>
  countWorkdays(from, to, addDays(to, 1), new Set([from]), { timeOff, workdays }).workdays;

test('both ends of a range are off, the days beside it are not', () => {
  const off = (date: string): boolean => isTimeOff(YEAR_END, day(date));
  expect(['2026-12-20', '2026-12-21', '2026-12-31', '2027-01-01'].map(off)).toEqual([false, true, true, false]);
});

test('a weekday of the user is a workday unless it is off', () => {
  expect(isWorkday(YEAR_END, DEFAULT_WORKDAYS, day('2026-12-18'))).toBe(true);
  expect(isWorkday(YEAR_END, DEFAULT_WORKDAYS, day('2026-12-19'))).toBe(false);
  expect(isWorkday([], [6], day('2026-12-19'))).toBe(true);
  expect(isWorkday(YEAR_END, DEFAULT_WORKDAYS, day('2026-12-21'))).toBe(false);
});

test('December 2026 has 23 workdays, 14 of them outside of the time off', () => {
  const december = [day('2026-12-01'), day('2026-12-31')] as const;
  expect(workdayCount([], DEFAULT_WORKDAYS, ...december)).toBe(23);
  expect(workdayCount(YEAR_END, DEFAULT_WORKDAYS, ...december)).toBe(14);
  expect(workdayCount([], [], ...december)).toBe(0);
});

test.each([
  ['2026-12-24', '2026-12-23', 'ends-early'],
  ['2026-12-24', '2026-12-24', null],
  ['2026-01-01', '2036-01-01', null],
  ['2026-01-01', '2036-01-02', 'too-long'],
])('a range from %s to %s: %s', (first, last, problem) => {
  expect(checkTimeOff(day(first), day(last))).toBe(problem);
});

const anyDay = fc.integer({ min: 0, max: 400 }).map((count) => addDays(day('2026-01-01'), count));
const anyRange = fc
  .tuple(anyDay, fc.nat(30))
  .map(([first_day, length]) => ({ first_day, last_day: addDays(first_day, length) }));

test('the parts of ranges in a period are off on the same days of the period, and on no other', () => {
  fc.assert(
    fc.property(fc.array(anyRange), anyDay, fc.nat(60), (ranges, from, length) => {
      const to = addDays(from, length);
      const parts = timeOffBetween(ranges, from, to);
      let expected = 0;
      for (let date: Day = addDays(from, -1); date <= addDays(to, 1); date = addDays(date, 1)) {
        const isInside = from <= date && date <= to;
        expect(isTimeOff(parts, date)).toBe(isInside && isTimeOff(ranges, date));
        if (isInside && isWorkday(ranges, DEFAULT_WORKDAYS, date)) expected += 1;
      }
      expect(workdayCount(ranges, DEFAULT_WORKDAYS, from, to)).toBe(expected);
      expect(parts.map(({ first_day }) => first_day)).toEqual(parts.map(({ first_day }) => first_day).toSorted());
    }),
  );
});

import { describe, expect, test } from 'vitest';
import { addDays, day, weekdayOf, type Day } from './day.ts';
import { daysOfMonth, inMonth, monthOf, weekdaysFrom, weeksOfMonth, weekStartOf, WEEK_STARTS } from './month.ts';

describe.each(WEEK_STARTS)('weeks that begin on %s', (start) => {
  test.each(['2026-11', '2024-02', '2011-12', '2015-02', '2026-08', '0001-01', '9999-12'])(
    'contain each day of %s once, below its weekday',
    (text) => {
      const month = monthOf(day(`${text}-01`));
      const weeks = weeksOfMonth(month, start);
      expect(weeks.flat().filter((date) => date !== null)).toEqual(daysOfMonth(month));
      expect(weeks.every((week) => week.length === 7 && week.some((date) => date !== null))).toBe(true);
      for (const week of weeks)
        week.forEach((date, index) => {
          if (date) expect(weekdayOf(date)).toBe(weekdaysFrom(start)[index]);
        });
    },
  );

  test('begin with that day', () => {
    for (let offset = 0; offset < 14; offset += 1) {
      const date = addDays(day('2026-12-27'), offset);
      const first = weekStartOf(date, start);
      expect(weekdayOf(first)).toBe(start);
      expect(first <= date && addDays(first, 7) > date).toBe(true);
    }
  });
});

test.each([
  ['2015-12-28', '2016-01-03'],
  ['2020-12-28', '2021-01-03'],
  ['2026-12-28', '2027-01-03'],
])('the ISO week 53 from %s ends on %s, in the next year', (monday, sunday) => {
  for (let date = day(monday); date <= sunday; date = addDays(date, 1))
    expect(weekStartOf(date, 'Monday'), date).toBe(monday);
  expect(weekStartOf(addDays(day(sunday), 1), 'Monday')).toBe(addDays(day(sunday), 1));
});

test('leap days exist where the calendar has them', () => {
  const lengthOf = (date: Day): number => daysOfMonth(monthOf(date)).length;
  expect(['2024-02-01', '2023-02-01', '2000-02-01', '1900-02-01'].map((text) => lengthOf(day(text)))).toEqual([
    29, 28, 29, 28,
  ]);
});

test.each([
  ['2026-01-31', '2026-02-01', '2026-02-28'],
  ['2024-01-31', '2024-02-01', '2024-02-29'],
  ['2026-11-28', '2027-11-01', '2027-11-28'],
])('%s in the month of %s is %s', (date, month, result) => {
  expect(inMonth(day(date), monthOf(day(month)))).toBe(result);
});

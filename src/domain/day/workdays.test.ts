import { expect, test } from 'vitest';
import { addDays, day, type Day } from './day.ts';
import { DEFAULT_WORKDAYS, countWorkdays as countIn, workdaysText, type TimeOff } from './time-off.ts';

function countWorkdays(from: Day, to: Day, today: Day, logged: ReadonlySet<Day>, timeOff: readonly TimeOff[] = []) {
  return countIn(from, to, today, logged, { timeOff, workdays: DEFAULT_WORKDAYS });
}

/** A Monday. */
const monday = day('2026-11-16');
const sunday = addDays(monday, 6);
const logged = (...back: number[]) => new Set(back.map((count) => addDays(monday, count)));

test('counts five workdays in a full week', () => {
  expect(countWorkdays(monday, sunday, sunday, logged(0, 1, 2, 3, 4))).toEqual({ accounted: 5, workdays: 5 });
});

test('ignores weekends, with or without a log', () => {
  expect(countWorkdays(monday, sunday, sunday, logged(0, 5, 6))).toEqual({ accounted: 1, workdays: 5 });
  expect(countWorkdays(addDays(monday, 5), sunday, sunday, logged(5, 6))).toEqual({ accounted: 0, workdays: 0 });
});

test('ignores days off, with or without a log', () => {
  const off = [{ first_day: addDays(monday, 1), last_day: addDays(monday, 2) }];
  expect(countWorkdays(monday, sunday, sunday, logged(0, 1), off)).toEqual({ accounted: 1, workdays: 3 });
  expect(countWorkdays(monday, sunday, sunday, logged(1), off)).toEqual({ accounted: 0, workdays: 2 });
});

test('counts the weekdays that the user works on', () => {
  const options = { timeOff: [], workdays: [0, 6] };
  expect(countIn(monday, sunday, addDays(sunday, 1), logged(0, 5), options)).toEqual({ accounted: 1, workdays: 2 });
});

test('ignores days after today', () => {
  expect(countWorkdays(monday, sunday, addDays(monday, 2), logged(0))).toEqual({ accounted: 1, workdays: 2 });
});

test('counts today once it has a log, because it is not missed while it lasts', () => {
  const tuesday = addDays(monday, 1);
  expect(countWorkdays(monday, tuesday, tuesday, logged(0))).toEqual({ accounted: 1, workdays: 1 });
  expect(countWorkdays(monday, tuesday, tuesday, logged(0, 1))).toEqual({ accounted: 2, workdays: 2 });
  expect(countWorkdays(monday, tuesday, addDays(tuesday, 1), logged(0))).toEqual({ accounted: 1, workdays: 2 });
});

test('ignores logs outside the period', () => {
  expect(countWorkdays(monday, sunday, sunday, logged(-3, -7, 8))).toEqual({ accounted: 0, workdays: 5 });
});

test('ignores workdays before the first log, so that a new user has missed none', () => {
  expect(countWorkdays(addDays(monday, -20), sunday, sunday, logged(3))).toEqual({ accounted: 1, workdays: 2 });
  expect(countWorkdays(monday, sunday, sunday, logged(5))).toEqual({ accounted: 0, workdays: 0 });
  expect(countWorkdays(monday, sunday, sunday, logged())).toEqual({ accounted: 0, workdays: 0 });
});

test('counts the workdays of a period of thirty days in two months', () => {
  expect(countWorkdays(day('2026-10-05'), day('2026-11-03'), day('2026-11-04'), logged(-90))).toEqual({
    accounted: 0,
    workdays: 22,
  });
});

test('formats the count with singular and plural', () => {
  expect(workdaysText({ accounted: 21, workdays: 22 })).toBe('21 of 22 workdays accounted for');
  expect(workdaysText({ accounted: 1, workdays: 1 })).toBe('1 of 1 workday accounted for');
  expect(workdaysText({ accounted: 0, workdays: 0 })).toBe('No workdays in this period');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unicodeText } from '../../../tests/support/unicode-text.ts';
import { addDays, day, dateLabel, dayLabel, isDay } from './day.ts';
import { parseDateQuery } from './parse-date-query.ts';

const saturday = day('2026-11-21');

test.each([
  ['2026-03-14', '2026-03-14'],
  ['2026/3/4', '2026-03-04'],
  ['2026.03.14', '2026-03-14'],
  ['14 March', '2026-03-14'],
  ['March 14 2026', '2026-03-14'],
  ['march 14th, 2025', '2025-03-14'],
  ['the 14th', null],
  ['1st of april', '2026-04-01'],
  ['3 sept 2024', '2024-09-03'],
  ['Nov 21', '2026-11-21'],
  ['Nov 22', '2025-11-22'],
  ['December 24', '2025-12-24'],
  ['29 February', '2024-02-29'],
  ['29 February 2026', null],
  ['31 june', null],
  ['ma 14', null],
  ['Saturday - November 21, 2026', '2026-11-21'],
  ['today', '2026-11-21'],
  [' Yesterday ', '2026-11-20'],
  ['tomorrow', null],
  ['last friday', '2026-11-20'],
  ['friday', '2026-11-20'],
  ['last  Saturday', '2026-11-14'],
  ['sun', '2026-11-15'],
  ['su', null],
  ['last week', null],
  ['3 weeks ago', '2026-10-31'],
  ['a week ago', '2026-11-14'],
  ['1 day ago', '2026-11-20'],
  ['two months ago', '2026-09-21'],
  ['10 years ago', '2016-11-21'],
  ['1001 days ago', null],
  ['some days ago', null],
  ['2026-11-22', null],
  ['2026-13-01', null],
  ['3/4/2026', null],
  ['', null],
  ['may', null],
])('parses %j as %j', (query, found) => {
  expect(parseDateQuery(query, saturday)).toBe(found);
});

test('clamps to the last day of a shorter month, and rejects years before year 1', () => {
  expect(parseDateQuery('1 month ago', day('2026-03-31'))).toBe('2026-02-28');
  expect(parseDateQuery('1 year ago', day('2028-02-29'))).toBe('2027-02-28');
  expect(parseDateQuery('1000 years ago', day('0999-05-05'))).toBeNull();
});

const someDay = fc.integer({ min: 0, max: 3000 }).map((back) => addDays(saturday, -back));

test('parses each of the formats that the product displays', () => {
  fc.assert(
    fc.property(someDay, (date) => {
      for (const label of [date, dateLabel(date), dayLabel(date)]) expect(parseDateQuery(label, saturday)).toBe(date);
    }),
  );
});

test('returns null or a day up to today for any text', () => {
  fc.assert(
    fc.property(unicodeText({ maxLength: 40 }), (text) => {
      const found = parseDateQuery(text, saturday);
      expect(found === null || (isDay(found) && found <= saturday)).toBe(true);
    }),
  );
});

test('finds a later day only if it has a log', () => {
  const later = addDays(saturday, 1);
  for (const query of ['tomorrow', later, dayLabel(later)]) {
    expect(parseDateQuery(query, saturday)).toBeNull();
    expect(parseDateQuery(query, saturday, [later])).toBe(later);
    expect(parseDateQuery(query, saturday, [addDays(later, 1)])).toBeNull();
  }
});

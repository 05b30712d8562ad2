import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  addDays,
  day,
  dayLabel,
  dayOf,
  daysBetween,
  earliestToday,
  isDay,
  latestToday,
  weekdayOf,
  withDateLabels,
} from './day.ts';

const anyDay = fc
  .integer({ min: Date.UTC(1970, 0, 1) / 86_400_000, max: Date.UTC(2400, 0, 1) / 86_400_000 })
  .map((count) => addDays(day('1970-01-01'), count));

afterEach(() => void vi.unstubAllEnvs());

describe('isDay', () => {
  test.each(['2026-11-21', '2024-02-29', '0001-01-01', '9999-12-31'])('accepts %s', (text) => {
    expect(isDay(text)).toBe(true);
  });
  test.each([
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    '0000-01-01',
    '2026-1-1',
    '20261121',
    '',
    'today',
  ])('rejects %j, and day() throws', (text) => {
    expect(isDay(text)).toBe(false);
    expect(() => day(text)).toThrow(RangeError);
  });
  test.each([null, undefined, 20261121, new Date(), ['2026-11-21']])('rejects the non-string %j', (value) => {
    expect(isDay(value)).toBe(false);
  });
});

describe('day arithmetic', () => {
  test('crosses the ends of months, leap days and years', () => {
    expect(addDays(day('2024-02-28'), 1)).toBe('2024-02-29');
    expect(addDays(day('2026-12-31'), 1)).toBe('2027-01-01');
    expect(addDays(day('2026-03-01'), -1)).toBe('2026-02-28');
  });
  /** A day of 23 and a day of 25 hours, in a time zone ahead of UTC and in one behind it. */
  test.each([
    ['Europe/Berlin', '2026-03-29', '2026-10-25'],
    ['America/New_York', '2026-03-08', '2026-11-01'],
  ])('is unaffected by daylight saving time in %s', (timeZone, shortDay, longDay) => {
    vi.stubEnv('TZ', timeZone);
    const hours = (date: string): number =>
      (new Date(`${addDays(day(date), 1)}T00:00`).getTime() - new Date(`${date}T00:00`).getTime()) / 3_600_000;
    expect([shortDay, longDay].map(hours)).toEqual([23, 25]);
    for (const date of [shortDay, longDay].map(day)) {
      const [before, after] = [addDays(date, -1), addDays(date, 1)];
      expect([addDays(before, 1), addDays(after, -1), addDays(before, 2)]).toEqual([date, date, after]);
      expect([daysBetween(before, date), daysBetween(date, after), daysBetween(before, after)]).toEqual([1, 1, 2]);
      expect(weekdayOf(date)).toBe('Sunday');
    }
  });
  test('is reversible, and days sort as strings', () => {
    fc.assert(
      fc.property(anyDay, fc.integer({ min: -4000, max: 4000 }), (from, count) => {
        const to = addDays(from, count);
        expect(isDay(to)).toBe(true);
        expect(daysBetween(from, to)).toBe(count);
        expect(addDays(to, -count)).toBe(from);
        expect(Math.sign(count)).toBe(to > from ? 1 : to < from ? -1 : 0);
      }),
    );
  });
});

test('formats the label of a day', () => {
  expect(dayLabel(day('2026-11-21'))).toBe('Saturday - November 21, 2026');
  expect(dayLabel(day('2024-02-09'))).toBe('Friday - February 9, 2024');
  expect(weekdayOf(day('2000-01-01'))).toBe('Saturday');
});

test.each([
  ['Pacific/Kiritimati', '2026-11-21T23:00:00Z', '2026-11-22'],
  ['Pacific/Honolulu', '2026-11-22T01:00:00Z', '2026-11-21'],
])('dayOf returns the local date in %s, not the UTC date', (timeZone, instant, expected) => {
  vi.stubEnv('TZ', timeZone);
  expect(dayOf(new Date(instant))).toBe(expected);
});

test('the earliest and the latest today on Earth are those of UTC-12 and UTC+14', () => {
  expect(earliestToday(new Date('2026-11-21T11:59:59Z'))).toBe('2026-11-20');
  expect(earliestToday(new Date('2026-11-21T12:00:00Z'))).toBe('2026-11-21');
  expect(latestToday(new Date('2026-11-21T09:59:59Z'))).toBe('2026-11-21');
  expect(latestToday(new Date('2026-11-21T10:00:00Z'))).toBe('2026-11-22');
});

test.each([
  ['From 2026-11-14 to 2026-11-20.', 'From November 14, 2026 to November 20, 2026.'],
  ['**2026-11-20**: stuck (2026-11-19)', '**November 20, 2026**: stuck (November 19, 2026)'],
  ['2026-02-30, v2026-11-20, 2026-11-20T10:00, /2026-11-20/x, 2026-11-20.txt', null],
])('replaces ISO dates in a text by labels: %s', (text, expected) => {
  expect(withDateLabels(text)).toBe(expected ?? text);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { localTime } from '../day/current-day.ts';
import { addDays, day, daysBetween, WEEKDAYS, weekdayOf, type Day } from '../day/day.ts';
import { EARLIEST_REMINDER, LATEST_REMINDER } from './preferences.ts';
import { isTimely, MAX_LATE_MS, nextDue, type Due, type WeeklyTime } from './reminder-time.ts';

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const at = (timeZone: string, hour: number, minute = 0, weekdays = EVERY_DAY): WeeklyTime => ({
  timeZone,
  at: hour * 60 + minute,
  weekdays,
});
const next = (time: WeeklyTime, from: string, last: string | null = null) => {
  const due = nextDue(time, new Date(from), last === null ? null : day(last));
  return due && `${due.day} ${due.at.toISOString().slice(0, 16)}`;
};

describe('the next time', () => {
  test.each([
    ['today, later', at('Europe/Lisbon', 18), '2026-11-27T12:00Z', null, '2026-11-27 2026-11-27T18:00'],
    ['at this moment', at('Europe/Lisbon', 18), '2026-11-27T18:00Z', null, '2026-11-27 2026-11-27T18:00'],
    ['tomorrow, a moment later', at('Europe/Lisbon', 18), '2026-11-27T18:00:01Z', null, '2026-11-28 2026-11-28T18:00'],
    ['not twice on a day', at('Europe/Lisbon', 18), '2026-11-27T12:00Z', '2026-11-27', '2026-11-28 2026-11-28T18:00'],
    [
      'on the next workday',
      at('Europe/Lisbon', 18, 0, [1, 2]),
      '2026-11-27T12:00Z',
      null,
      '2026-11-30 2026-11-30T18:00',
    ],
    ['east of UTC', at('Pacific/Kiritimati', 7), '2026-11-27T12:00Z', null, '2026-11-28 2026-11-27T17:00'],
    ['west of UTC', at('Pacific/Pago_Pago', 23), '2026-11-28T01:00Z', null, '2026-11-27 2026-11-28T10:00'],
    [
      'before the clock goes forward',
      at('Europe/Berlin', 18),
      '2026-03-28T12:00Z',
      null,
      '2026-03-28 2026-03-28T17:00',
    ],
    ['after the clock went forward', at('Europe/Berlin', 18), '2026-03-29T00:00Z', null, '2026-03-29 2026-03-29T16:00'],
    // 06:15 is in no zone's gap today, but a zone may decide anything: at 02:15 there is one.
    ['in a gap', at('Europe/Berlin', 2, 15), '2026-03-29T00:00Z', null, '2026-03-29 2026-03-29T01:15'],
    ['the first of two', at('Europe/Berlin', 2, 15), '2026-10-24T22:00Z', null, '2026-10-25 2026-10-25T00:15'],
    ['once of two', at('Europe/Berlin', 2, 15), '2026-10-25T00:15:01Z', '2026-10-25', '2026-10-26 2026-10-26T01:15'],
    ['over a skipped day', at('Pacific/Apia', 18), '2011-12-30T05:00Z', null, '2011-12-31 2011-12-31T04:00'],
    ['with half an hour', at('Australia/Lord_Howe', 18), '2026-10-03T12:00Z', null, '2026-10-04 2026-10-04T07:00'],
  ] as const)('is %s', (_name, time, from, last, expected) => {
    expect(next(time, from, last)).toBe(expected);
  });

  test('is none without weekdays', () => {
    expect(next(at('UTC', 18, 0, []), '2026-11-27T12:00Z')).toBe(null);
  });
});

describe('what is due may be sent', () => {
  const due = { at: new Date('2026-11-27T23:00Z'), day: day('2026-11-27') };
  test.each([
    ['UTC', '2026-11-27T22:59:59Z', false, 'not before its time'],
    ['UTC', '2026-11-27T23:00Z', true, 'at its time'],
    ['UTC', '2026-11-27T23:59Z', true, 'late on its day'],
    ['UTC', '2026-11-28T00:30Z', false, 'not on the next day'],
  ])('in %s at %s: %s, %s', (timeZone, now, expected) => {
    expect(isTimely(due, new Date(now), timeZone)).toBe(expected);
  });

  test('within two hours', () => {
    const noon = { at: new Date('2026-11-27T12:00Z'), day: day('2026-11-27') };
    expect(isTimely(noon, new Date('2026-11-27T14:00Z'), 'UTC')).toBe(true);
    expect(isTimely(noon, new Date('2026-11-27T14:00:01Z'), 'UTC')).toBe(false);
  });
});

const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC', 'Etc/GMT+12', 'Etc/GMT-14');
const FROM = Date.parse('2005-01-01T00:00Z');
const TO = Date.parse('2037-12-31T00:00Z');

test('of each chosen day that the zone has, there is one time, in order, by day and as the clock shows it', () => {
  fc.assert(
    fc.property(
      zones,
      fc.integer({ min: EARLIEST_REMINDER, max: LATEST_REMINDER }),
      fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 }),
      fc.integer({ min: FROM, max: TO }),
      (timeZone, minutes, weekdays, start) => {
        const time = { timeZone, at: minutes, weekdays };
        let from = new Date(start);
        let last: Day | null = null;
        const seen: Day[] = [];
        for (let count = 0; count < 40; count += 1) {
          const due: Due = nextDue(time, from, last)!;
          expect(due.at >= from).toBe(true);
          const local = localTime(due.at, timeZone);
          expect(local).toEqual({ day: due.day, minutes });
          expect(isTimely(due, due.at, timeZone)).toBe(true);
          expect(isTimely(due, new Date(due.at.getTime() + MAX_LATE_MS + 1), timeZone)).toBe(false);
          seen.push(due.day);
          last = due.day;
          from = new Date(due.at.getTime() + 1);
        }
        const isChosen = (date: Day): boolean => weekdays.includes(WEEKDAYS.indexOf(weekdayOf(date)));
        const chosen = Array.from({ length: daysBetween(seen[0]!, seen.at(-1)!) + 1 }, (_, index) =>
          addDays(seen[0]!, index),
        ).filter(isChosen);
        // A zone that crosses the date line skips a day.
        expect(chosen.filter((date) => !seen.includes(date)).length).toBeLessThanOrEqual(1);
        expect(seen.every((date) => chosen.includes(date))).toBe(true);
      },
    ),
    { numRuns: fuzzBudget(60) },
  );
});

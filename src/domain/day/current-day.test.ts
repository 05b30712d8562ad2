import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { currentDay, DAY_ENDS, localCurrentDay } from './current-day.ts';
import { addDays, day, daysBetween, earliestCurrentDay, earliestToday, latestToday } from './day.ts';

afterEach(() => void vi.unstubAllEnvs());

const ZONES = Intl.supportedValuesOf('timeZone');
const instants = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });

test.each([
  ['at 02:59 the day before has not ended', '2026-11-21T01:59:59Z', 3, '2026-11-20'],
  ['at 03:00 the day begins', '2026-11-21T02:00:00Z', 3, '2026-11-21'],
  ['at 00:30, where a day ends at midnight, it has begun', '2026-11-20T23:30:00Z', 0, '2026-11-21'],
  ['the clock that goes from 02:00 to 03:00 begins the day', '2026-03-29T01:00:00Z', 3, '2026-03-29'],
  ['before that the day of Saturday has not ended', '2026-03-29T00:59:59Z', 3, '2026-03-28'],
  [
    'the hour from 02:00 to 03:00 that comes twice belongs to Saturday both times',
    '2026-10-25T01:59:59Z',
    3,
    '2026-10-24',
  ],
  ['after it the day begins', '2026-10-25T02:00:00Z', 3, '2026-10-25'],
] as const)('in Berlin %s', (_case, instant, dayEndsAt, expected) => {
  expect(currentDay(new Date(instant), 'Europe/Berlin', dayEndsAt)).toBe(expected);
  vi.stubEnv('TZ', 'Europe/Berlin');
  expect(localCurrentDay(new Date(instant), dayEndsAt)).toBe(expected);
});

test('an unknown time zone counts as UTC, and one that does not exist is rejected', () => {
  expect(currentDay(new Date('2026-11-21T02:59:59Z'), null, 3)).toBe('2026-11-20');
  expect(() => currentDay(new Date(), 'Mars/Olympus', 0)).toThrow(RangeError);
});

test('the formats of a thousand spellings of a zone make room for later ones', () => {
  const create = vi.spyOn(Intl, 'DateTimeFormat');
  const spelling = (number: number): string => {
    let bit = 0;
    return 'america/los_angeles'.replaceAll(/[a-z]/g, (letter) =>
      (number >> bit++) & 1 ? letter.toUpperCase() : letter,
    );
  };
  const now = new Date('2026-11-21T12:00:00Z');
  for (let number = 0; number < 1_100; number++) currentDay(now, spelling(number), 0);
  create.mockClear();
  currentDay(now, spelling(0), 0);
  expect(create).toHaveBeenCalledOnce();
  create.mockRestore();
});

describe('in every time zone', () => {
  test('a day that ends at 03:00 is the civil day or the one before it, and a day of some user on Earth', () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...ZONES), (now, zone) => {
        const civil = currentDay(now, zone, 0);
        const current = currentDay(now, zone, 3);
        expect([civil, addDays(civil, -1)]).toContain(current);
        expect(civil >= earliestToday(now) && civil <= latestToday(now)).toBe(true);
        expect(current >= earliestCurrentDay(now) && current <= latestToday(now)).toBe(true);
      }),
    );
  });

  test.each(DAY_ENDS)('days that end at %d follow each other without a way back', (dayEndsAt) => {
    // Days around clock changes: at midnight, at 02:00, at 03:45 (Chatham), of half an hour, and over the date line.
    const changes = ['2026-03-29', '2026-10-25', '2026-03-08', '2026-11-01', '2018-02-18', '2026-04-05', '2011-12-30'];
    // One expectation at the end: 430,000 of them would take three quarters of the time.
    const wrong: string[] = [];
    for (const zone of ZONES)
      for (const change of changes) {
        // Samoa and Tokelau skipped a day.
        const most = change === '2011-12-30' ? 2 : 1;
        let last = currentDay(new Date(`${addDays(day(change), -1)}T00:00Z`), zone, dayEndsAt);
        for (let step = 1; step < 3 * 48; step++) {
          const at = new Date(Date.parse(`${change}T00:00Z`) - 86_400_000 + step * 1_800_000);
          const next = currentDay(at, zone, dayEndsAt);
          const days = next === last ? 0 : daysBetween(last, next);
          if (days < 0 || days > most) wrong.push(`${zone}, ${at.toISOString()}: ${last} to ${next}`);
          last = next;
        }
      }
    expect(wrong).toEqual([]);
  });
});

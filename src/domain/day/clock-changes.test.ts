/**
 * Days in time zones whose clocks change at midnight, skip a day or lie between hours: no day is lost, repeated or
 * shifted.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { addDays, day, dayOf, daysBetween } from './day.ts';
import { daysOfMonth, monthOf, weeksOfMonth } from './month.ts';

afterEach(() => void vi.unstubAllEnvs());

/**
 * Zone, and the days around its change. The local midnight of these days is missing or comes twice, except where the
 * reason says otherwise.
 */
const CHANGES = [
  ['Africa/Cairo', '2024-04-26', 'midnight is missing'],
  ['Africa/Cairo', '2024-11-01', 'midnight comes twice'],
  ['Asia/Beirut', '2024-03-31', 'midnight is missing'],
  ['America/Santiago', '2024-09-08', 'midnight is missing'],
  ['America/Santiago', '2024-04-07', 'midnight comes twice'],
  ['America/Havana', '2024-03-10', 'midnight is missing'],
  ['Atlantic/Azores', '2024-03-31', 'midnight is missing'],
  ['Australia/Lord_Howe', '2024-10-06', 'half an hour is missing'],
  ['America/Sao_Paulo', '2018-11-04', 'midnight is missing'],
  ['Asia/Kathmandu', '1986-01-01', 'a quarter of an hour is missing'],
  ['Africa/Casablanca', '2024-03-10', 'an hour comes twice'],
  ['Pacific/Kiritimati', '1994-12-31', 'this day is missing'],
  ['Pacific/Apia', '2011-12-30', 'this day is missing'],
] as const;

describe.each(CHANGES)('in %s around %s, when %s', (timeZone, date, reason) => {
  const around = Array.from({ length: 7 }, (_, index) => addDays(day(date), index - 3));

  test('days are counted one by one', () => {
    vi.stubEnv('TZ', timeZone);
    expect(new Set(around).size).toBe(7);
    expect(around.slice(1).map((next, index) => daysBetween(around[index]!, next))).toEqual([1, 1, 1, 1, 1, 1]);
    const month = monthOf(day(date));
    expect(daysOfMonth(month)).toContain(date);
    expect(weeksOfMonth(month, 'Sunday').flat()).toContain(date);
  });

  test('every instant belongs to the civil day that its clocks show', () => {
    vi.stubEnv('TZ', timeZone);
    const written = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
    const seen = new Set<string>();
    const noon = Date.parse(`${date}T12:00Z`);
    for (let minutes = -3 * 1440; minutes <= 3 * 1440; minutes += 15) {
      const instant = new Date(noon + minutes * 60_000);
      const shown = dayOf(instant);
      expect(shown).toBe(written.format(instant));
      seen.add(shown);
    }
    expect(seen.has(date)).toBe(reason !== 'this day is missing');
  });
});

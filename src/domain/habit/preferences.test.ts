import { expect, test } from 'vitest';
import { DEFAULT_PREFERENCES, isTimeZone, parsePreferences } from './preferences.ts';

test('stored preferences survive, and values of another version become defaults', () => {
  const chosen = {
    ...DEFAULT_PREFERENCES,
    time_zone: 'Asia/Kolkata',
    workdays: [0, 6],
    remind_at: 1080,
    day_ends_at: 3,
  };
  expect(parsePreferences(JSON.parse(JSON.stringify(chosen)))).toEqual(chosen);
  for (const broken of [
    null,
    'text',
    7,
    [],
    { workdays: [7], remind_at: 120, time_zone: 'Mars/Base', day_ends_at: 5 },
  ]) {
    expect(parsePreferences(broken)).toEqual(DEFAULT_PREFERENCES);
  }
});

test('a time zone is one of the tz database', () => {
  for (const name of ['UTC', 'Europe/Lisbon', 'America/Argentina/ComodRivadavia', 'Etc/GMT+12'])
    expect(isTimeZone(name)).toBe(true);
  for (const name of ['', 'Lisbon', 'Europe/Lisbon ', '../etc']) expect(isTimeZone(name)).toBe(false);
});

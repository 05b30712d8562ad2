import { expect, test } from 'vitest';
import { afterTime, timeZoneName } from './time-zone-name.ts';

test.each([
  ['Europe/Lisbon', 'in Lisbon'],
  ['America/Argentina/Buenos_Aires', 'in Buenos Aires'],
  ['America/Port-au-Prince', 'in Port-au-Prince'],
  ['Asia/Calcutta', 'in Kolkata'],
  ['Asia/Saigon', 'in Ho Chi Minh City'],
  ['Etc/GMT', 'UTC'],
  ['Etc/GMT0', 'UTC'],
  ['GMT', 'UTC'],
  ['UTC', 'UTC'],
  ['Etc/GMT+7', 'UTC-7'],
  ['Etc/GMT-14', 'UTC+14'],
  ['+05:30', 'UTC+5:30'],
  ['-03:00', 'UTC-3'],
  ['EST5EDT', 'EST5EDT'],
])('the time in the zone %s reads "18:00 %s"', (zone, words) => expect(afterTime(zone)).toBe(words));

test('every zone of the tz database has a name without its region and underscores', () => {
  const names = Intl.supportedValuesOf('timeZone').map((zone) => timeZoneName(zone).name);
  expect(names.filter((name) => !/^[\p{L}][\p{L}\p{N}.' +-]*$/u.test(name))).toEqual([]);
});

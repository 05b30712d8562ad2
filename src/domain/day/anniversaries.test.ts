import { expect, test } from 'vitest';
import { nearestAnniversary } from '../year.ts';
import { day } from './day.ts';

const nearest = (today: string, ...dates: string[]) => nearestAnniversary(day(today), dates.map(day));

test.each([
  ['2026-11-28', ['2025-11-28'], '2025-11-28', 'A year ago'],
  ['2026-11-28', ['2025-11-28', '2026-10-28'], '2026-10-28', 'A month ago'],
  ['2026-11-28', ['2020-11-28', '2023-11-28'], '2023-11-28', '3 years ago'],
  ['2026-01-15', ['2025-12-15'], '2025-12-15', 'A month ago'],
  ['2026-03-31', ['2026-02-28'], '2026-02-28', 'A month ago'],
  ['2028-02-29', ['2027-02-28'], '2027-02-28', 'A year ago'],
])('on %s with logs of %j it is %s: %s', (today, dates, date, label) => {
  expect(nearest(today, ...dates)).toEqual({ date, label });
});

test.each([
  ['no log', '2026-11-28', []],
  ['logs of other days', '2026-11-28', ['2025-11-27', '2026-11-27', '2026-11-28', '2026-12-28']],
  ['a log of the first year', '0001-01-31', ['0001-01-01']],
])('there is none with %s', (_what, today, dates) => {
  expect(nearest(today, ...dates)).toBeNull();
});

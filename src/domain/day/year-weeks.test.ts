import { expect, test } from 'vitest';
import { addDays, day, weekdayOf } from './day.ts';
import { weekdaysFrom } from './month.ts';
import { yearRows } from '../year.ts';

test.each(['2026-11-21', '2026-11-22', '2024-02-29', '2027-01-01'])(
  'contains each day of the year up to %s once',
  (text) => {
    const today = day(text);
    const rows = yearRows(today, 'Sunday');
    const days = rows.flat().filter((date) => date !== null);
    expect(new Set(days).size).toBe(days.length);
    expect(days).toContain(today);
    expect(days).toContain(addDays(today, -364));
    expect(days.every((date) => date <= today)).toBe(true);
    expect(rows.map((row) => weekdayOf(row[0]!))).toEqual([
      'Sunday',
      'Monday',
      'Tuesday',
      'Wednesday',
      'Thursday',
      'Friday',
      'Saturday',
    ]);
  },
);

test.each(['Monday', 'Saturday'] as const)('weeks that begin on %s begin in its row', (start) => {
  const rows = yearRows(day('2026-11-28'), start);
  expect(rows.map((row) => weekdayOf(row[0]!))).toEqual(weekdaysFrom(start));
  expect(rows.flat()).toContain('2026-11-28');
});

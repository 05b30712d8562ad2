import { expect, test } from 'vitest';
import { clockTime } from '#domain/day/clock-time.ts';
import { momentLabel } from './sessions.tsx';

const NOW = new Date(2026, 10, 22, 14, 2);

test.each([
  [new Date(2026, 10, 22, 9, 5), 'today'],
  [new Date(2026, 10, 22, 0, 0), 'today'],
  [new Date(2026, 10, 21, 23, 59), 'yesterday'],
  [new Date(2026, 10, 3, 9, 15), 'November 3, 2026'],
  [new Date(2025, 11, 31, 18, 30), 'December 31, 2025'],
  // The server's clock may be ahead of the browser's.
  [new Date(2026, 10, 23, 0, 1), 'today'],
])('%s reads "%s" and its time', (then, label) => {
  expect(momentLabel(then, NOW)).toBe(`${label} at ${clockTime(then)}`);
});

test('tells two moments of one minute apart by their seconds', () => {
  const then = new Date(2026, 10, 22, 9, 5, 7);
  expect(momentLabel(then, NOW, true)).toBe(`today at ${clockTime(then, true)}`);
});

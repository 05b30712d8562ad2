import { expect, test } from 'vitest';
import { momentLabel } from './moment-label.ts';

const NOW = new Date(2026, 10, 22, 14, 2);

test.each([
  [new Date(2026, 10, 22, 9, 5), 'today at 09:05'],
  [new Date(2026, 10, 22, 0, 0), 'today at 00:00'],
  [new Date(2026, 10, 21, 23, 59), 'yesterday at 23:59'],
  [new Date(2026, 10, 3, 9, 15), 'November 3, 2026 at 09:15'],
  [new Date(2025, 11, 31, 18, 30), 'December 31, 2025 at 18:30'],
  // The server's clock may be ahead of the browser's.
  [new Date(2026, 10, 23, 0, 1), 'today at 00:01'],
])('%s reads "%s"', (then, label) => {
  expect(momentLabel(then, NOW)).toBe(label);
});

test('tells two moments of one minute apart by their seconds', () => {
  expect(momentLabel(new Date(2026, 10, 22, 9, 5, 7), NOW, true)).toBe('today at 09:05:07');
});

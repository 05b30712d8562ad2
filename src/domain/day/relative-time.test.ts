import { expect, test } from 'vitest';
import { relativeTime } from './clock-time.ts';

const now = new Date('2026-11-21T14:00:00Z');
const ago = (ms: number) => relativeTime(new Date(now.getTime() - ms), now);

test.each([
  [-5_000, 'Just now'],
  [59_999, 'Just now'],
  [60_000, '1m ago'],
  [59 * 60_000 + 59_999, '59m ago'],
  [60 * 60_000, '1h ago'],
  [24 * 60 * 60_000 - 1, '23h ago'],
])('%i ms ago reads "%s"', (ms, shown) => {
  expect(ago(ms)).toBe(shown);
});

test('shows the local date from 24 hours on', () => {
  expect(ago(24 * 60 * 60_000)).toBe(new Date('2026-11-20T14:00:00Z').toLocaleDateString());
});

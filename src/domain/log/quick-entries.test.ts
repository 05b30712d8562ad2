import { expect, test } from 'vitest';
import { QUICK_ENTRIES, quickEntryIn } from './quick-entries.ts';

test('a day that holds nothing but a canned text is known by it', () => {
  for (const { text } of QUICK_ENTRIES) expect(quickEntryIn(` ${text}\n`)).toBe(text);
  expect(quickEntryIn('Did nothing today, but slept well')).toBeNull();
  expect(quickEntryIn('')).toBeNull();
});

import { expect, test } from 'vitest';
import { MAX_QUICK_ENTRY_LENGTH, QUICK_ENTRIES, matchQuickEntry } from './quick-entries.ts';

test('matches a log that consists of a canned text only', () => {
  for (const { text } of QUICK_ENTRIES) expect(matchQuickEntry(` ${text}\n`)).toBe(text);
  expect(matchQuickEntry('Did nothing today, but slept well')).toBeNull();
  expect(matchQuickEntry('')).toBeNull();
});

test.each(QUICK_ENTRIES)('$text is shorter than the bound', ({ text }) => {
  expect(text.length).toBeLessThan(MAX_QUICK_ENTRY_LENGTH);
});

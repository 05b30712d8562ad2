import { expect, test } from 'vitest';
import { QUICK_ENTRIES, matchQuickEntry } from './quick-entries.ts';

test('matches a log that consists of a canned text only', () => {
  for (const { text } of QUICK_ENTRIES) expect(matchQuickEntry(` ${text}\n`)).toBe(text);
  expect(matchQuickEntry('Did nothing today, but slept well')).toBeNull();
  expect(matchQuickEntry('')).toBeNull();
});

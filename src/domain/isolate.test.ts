import { expect, test } from 'vitest';
import { isolate, isolateRightToLeft } from './isolate.ts';

test.each([
  ['Hebrew', 'סיימתי'],
  ['Arabic', 'مرحبا'],
  ['Adlam', '\u{1e900}\u{1e923}'],
  ['Hanifi Rohingya', '\u{10d00}\u{10d01}'],
])('text with letters of %s is isolated', (_script, text) => {
  expect(isolateRightToLeft(`Acme: ${text}`)).toBe(isolate(`Acme: ${text}`));
});

test.each(['Shipped it', '出荷した', '🚀', '\u{10400}'])('%j is not isolated', (text) => {
  expect(isolateRightToLeft(text)).toBe(text);
});

import { expect, test } from 'vitest';
import { cutHtml } from './prepare-analysis.ts';

test.each([
  ['<p>one</p><p>two</p>', 20, '<p>one</p><p>two</p>', false],
  ['<p>one</p><p>two</p>', 12, '<p>one</p>', true],
  ['<p>one</p><p>two</p>', 15, '<p>one</p><p>tw', true],
  ['<p>&lt;</p>', 4, '<p>&', true],
])('truncates %j at %d to %j', (html, length, expected, cut) => {
  expect(cutHtml(html, length)).toEqual({ html: expected, cut });
});

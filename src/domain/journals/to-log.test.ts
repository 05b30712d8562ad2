/** Tests that imported text holds only characters that a log stores. */
import { expect, test } from 'vitest';
import { isCleanLog } from '../log/entry-html.ts';
import { cleanText, toLog } from './assemble-days.ts';

const CONTROLS = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('x');

test('control characters and half surrogate pairs stay out, and separators end lines', () => {
  expect(cleanText('a\u0007\u0080\uD800\u009Fb\uFFFC\tc')).toBe('ab\uFFFC\tc');
  expect(toLog({ format: 'text', text: 'a\u0085b\u000Bc\u009Fd' })).toBe('<p>a</p><p>b</p><p>cd</p>');
});

test.each(['text', 'markdown'] as const)('the log of any controls in %s is stored unchanged', (format) => {
  expect(isCleanLog(toLog({ format, text: CONTROLS }))).toBe(true);
});

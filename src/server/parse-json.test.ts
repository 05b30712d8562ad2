import { expect, test } from 'vitest';
import { hasMoreValues, parseJson } from './parse-json.ts';

test.each([
  ['[1,2,3]', 3],
  ['{"a":1,"b":[]}', 3],
  ['[{},{}]', 4],
  ['{"a":"{[,{[,"}', 1],
  [String.raw`{"a":"\",[{\\","b":"\\\""}`, 2],
  [String.raw`["\\",",",1]`, 3],
  ['"no list, no object"', 0],
  ['["a string that does not end, [, {', 1],
  ['', 0],
])('%s holds %i values and no more', (text, values) => {
  expect(hasMoreValues(text, values)).toBe(false);
  expect(hasMoreValues(text, values - 1)).toBe(values > 0);
});

test('parses no more values than allowed', () => {
  expect(parseJson('[1,2]', 2)).toEqual([1, 2]);
  expect(parseJson('[1,2,3]', 2)).toBeUndefined();
});

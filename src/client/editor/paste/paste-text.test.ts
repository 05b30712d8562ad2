/** Tests the parsing of pasted plain text from terminals, chats and notes. */
import { expect, test } from 'vitest';
import { parsePastedText, withoutMarker } from './paste-text.ts';

const outline = (text: string): string[] =>
  parsePastedText(text).map((line) => `${'>'.repeat(line.level)}${line.text}${line.marker === 'number' ? ' #' : ''}`);

test('makes one item of each line and drops blank lines', () => {
  expect(outline('Fixed the login\r\n\r\n  Wrote the tests \n\nReviewed')).toEqual([
    'Fixed the login',
    'Wrote the tests',
    'Reviewed',
  ]);
});

test.each([
  ['1. a', 'a'],
  ['12) a', 'a'],
  ['(3) a', 'a'],
  ['b. a', 'a'],
  ['- a', 'a'],
  ['* a', 'a'],
  ['+ a', 'a'],
  ['• a', 'a'],
  ['– a', 'a'],
  ['o\ta', 'a'],
  ['- [ ] a', 'a'],
  ['- [x] a', 'a'],
  ['[] a', 'a'],
  ['☑ a', 'a'],
  ['1. [X] a', 'a'],
])('removes the marker of %j', (line, text) => {
  expect(withoutMarker(line).text).toBe(text);
});

test.each([
  '2026. A good year',
  '-5 degrees',
  '1.5 hours',
  'a.m. meeting',
  '*bold*',
  '--flag off',
  'o boy',
  '[link](x)',
  '- ',
  '✓ 12 tests passed',
])('keeps %j as a sentence', (line) => {
  expect(withoutMarker(line).text).toBe(line.trim());
});

test('keeps the levels of nested lists for any indentation', () => {
  expect(outline('1. a\n   - b\n   - c\n      * d\n2. e')).toEqual(['a #', '>b', '>c', '>>d', 'e #']);
  expect(outline('- a\n\t- b\n- c')).toEqual(['a', '>b', 'c']);
});

test('keeps indented text without markers flat, such as a stack trace', () => {
  expect(outline('Error: no\n    at f (a.js:1)\n    at g (b.js:2)')).toEqual([
    'Error: no',
    'at f (a.js:1)',
    'at g (b.js:2)',
  ]);
});

test('starts an indented list at the top level', () => {
  expect(outline('    - a\n    - b\n  - c')).toEqual(['a', 'b', 'c']);
});

test('keeps shell output flat, with its check marks', () => {
  const session = '$ npm test\n\n > vitest run\n ✓ 12 tests passed\n$ ls *.ts | wc -l\n      14\n';
  expect(outline(session)).toEqual(['$ npm test', '> vitest run', '✓ 12 tests passed', '$ ls *.ts | wc -l', '14']);
});

test('joins tab-separated cells and recognises the hollow bullet of Word', () => {
  expect(outline('Name\tCalls\nAda\t12\nBob\t')).toEqual(['Name · Calls', 'Ada · 12', 'Bob']);
  expect(outline('o\ta\no\tb')).toEqual(['a', 'b']);
  expect(outline('Name\tCalls\nThat was all')).toEqual(['Name\tCalls', 'That was all']);
});

test('drops lines without words from a quoted mail, and keeps them where there is no other text', () => {
  expect(outline('Bob wrote:\n> Hi\n>\n>> Thanks\n-- \nAda')).toEqual(['Bob wrote:', '> Hi', '>> Thanks', 'Ada']);
  expect(outline('--')).toEqual(['--']);
  expect(outline('--\n--')).toEqual(['--', '--']);
});

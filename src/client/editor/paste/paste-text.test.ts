/** Plain text as it comes out of terminals, chats and notes. */
import { expect, test } from 'vitest';
import { parsePastedText, withoutMarker } from './paste-text.ts';

const outline = (text: string): string[] =>
  parsePastedText(text).map((line) => `${'>'.repeat(line.level)}${line.text}${line.marker === 'number' ? ' #' : ''}`);

test('plain lines are one item each, blank ones are none', () => {
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
])('%j is an item', (line, text) => {
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
])('%j is a sentence', (line) => {
  expect(withoutMarker(line).text).toBe(line.trim());
});

test('nested lists keep their levels, however they are indented', () => {
  expect(outline('1. a\n   - b\n   - c\n      * d\n2. e')).toEqual(['a #', '>b', '>c', '>>d', 'e #']);
  expect(outline('- a\n\t- b\n- c')).toEqual(['a', '>b', 'c']);
});

test('indented text without markers, such as a stack trace, stays flat', () => {
  expect(outline('Error: no\n    at f (a.js:1)\n    at g (b.js:2)')).toEqual([
    'Error: no',
    'at f (a.js:1)',
    'at g (b.js:2)',
  ]);
});

test('a list that begins indented begins at the top', () => {
  expect(outline('    - a\n    - b\n  - c')).toEqual(['a', 'b', 'c']);
});

test('what a shell printed stays flat, ticks and all', () => {
  const session = '$ npm test\n\n > vitest run\n ✓ 12 tests passed\n$ ls *.ts | wc -l\n      14\n';
  expect(outline(session)).toEqual(['$ npm test', '> vitest run', '✓ 12 tests passed', '$ ls *.ts | wc -l', '14']);
});

test('rows with tabs are cells of a table; a hollow bullet of Word is none', () => {
  expect(outline('Name\tCalls\nAda\t12\nBob\t')).toEqual(['Name · Calls', 'Ada · 12', 'Bob']);
  expect(outline('o\ta\no\tb')).toEqual(['a', 'b']);
  expect(outline('Name\tCalls\nThat was all')).toEqual(['Name\tCalls', 'That was all']);
});

test('lines of signs alone are dropped from a quoted mail, and kept where nothing else is there', () => {
  expect(outline('Bob wrote:\n> Hi\n>\n>> Thanks\n-- \nAda')).toEqual(['Bob wrote:', '> Hi', '>> Thanks', 'Ada']);
  expect(outline('--')).toEqual(['--']);
  expect(outline('--\n--')).toEqual(['--', '--']);
});

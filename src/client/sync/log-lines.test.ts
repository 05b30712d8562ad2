/** Comparing and joining two versions of a day, line by line. */
import { describe, expect, test } from 'vitest';
import { isCleanLog } from '#domain/log/entry-html.ts';
import { containsLog, mergeLogs, sameWords } from './log-lines.ts';

const list = (...items: string[]) => `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

describe('containsLog', () => {
  test.each([
    ['an empty log is in every log', list('a'), '<ol><li><p></p></li></ol>', true],
    ['a line more', list('a', 'b'), list('a'), true],
    ['a line missing', list('a'), list('a', 'b'), false],
    ['a line written further in its place', list('Ran 10 km'), list('Ran 1'), true],
    ['a line that only begins another one elsewhere', list('x', 'Ran 10 km'), list('Ran 1'), false],
    ['formatting is not words', list('<strong>a</strong>'), list('a'), true],
    ['a paragraph among the items', '<p>a</p><ol><li><p>b</p></li></ol>', list('b', 'a'), true],
  ])('%s', (_name, whole, part, expected) => {
    expect(containsLog(whole, part)).toBe(expected);
  });
});

test('sameWords looks past formatting', () => {
  expect(sameWords(list('<em>a</em>'), list('a'))).toBe(true);
  expect(sameWords(list('a'), list('A'))).toBe(false);
});

describe('mergeLogs', () => {
  test('adds what mine lacks to my last list', () => {
    expect(mergeLogs(list('a', 'mine'), list('a', 'theirs'))).toBe(list('a', 'mine', 'theirs'));
  });

  test('keeps mine first, blocks of all kinds, and adds a list where mine ends with something else', () => {
    const mine = '<h1>Day</h1><p>prose</p>';
    const theirs = '<blockquote><p>said</p></blockquote><ul><li><p>dot<br>ted</p></li></ul>';
    expect(mergeLogs(mine, theirs)).toBe(`${mine}${theirs}`);
  });

  test('an item goes with all that is nested in it', () => {
    const nested = '<ol><li><p>a</p><ul><li><p>x</p></li></ul></li></ol>';
    expect(mergeLogs(list('b'), nested)).toBe('<ol><li><p>b</p></li><li><p>a</p><ul><li><p>x</p></li></ul></li></ol>');
  });

  test('an empty one gives way entirely', () => {
    expect(mergeLogs('<ol><li><p></p></li></ol>', list('theirs'))).toBe(list('theirs'));
    expect(mergeLogs(list('mine'), '')).toBe(list('mine'));
  });

  test('a list that does not start at one takes items too, and the result is clean', () => {
    const merged = mergeLogs('<ol start="4"><li><p>d &amp; e</p></li></ol>', list('f'));
    expect(merged).toBe('<ol start="4"><li><p>d &amp; e</p></li><li><p>f</p></li></ol>');
    expect(isCleanLog(merged)).toBe(true);
  });

  test('text that another client stored bare is kept as a paragraph', () => {
    expect(mergeLogs(list('mine'), 'bare words')).toBe(`${list('mine')}<p>bare words</p>`);
  });
});

import { describe, expect, test } from 'vitest';
import { isCleanLog } from '#domain/log/entry-html.ts';
import { containsLog, mergeLogs, isSameText } from './merge-logs.ts';

const list = (...items: string[]) => `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

describe('containsLog', () => {
  test.each([
    ['an empty log', list('a'), '<ol><li><p></p></li></ol>', true],
    ['an additional line', list('a', 'b'), list('a'), true],
    ['a missing line', list('a'), list('a', 'b'), false],
    ['a line continued at its position', list('Ran 10 km'), list('Ran 1'), true],
    ['a line continued at another position', list('x', 'Ran 10 km'), list('Ran 1'), false],
    ['a line with other formatting', list('<strong>a</strong>'), list('a'), true],
    ['a paragraph among the items', '<p>a</p><ol><li><p>b</p></li></ol>', list('b', 'a'), true],
  ])('%s', (_name, whole, part, expected) => {
    expect(containsLog(whole, part)).toBe(expected);
  });
});

test('isSameText ignores formatting', () => {
  expect(isSameText(list('<em>a</em>'), list('a'))).toBe(true);
  expect(isSameText(list('a'), list('A'))).toBe(false);
});

describe('mergeLogs', () => {
  test('appends missing lines to the last list of mine', () => {
    expect(mergeLogs(list('a', 'mine'), list('a', 'theirs'))).toBe(list('a', 'mine', 'theirs'));
  });

  test('keeps blocks of all kinds, and adds a list if mine does not end with one', () => {
    const mine = '<h1>Day</h1><p>prose</p>';
    const theirs = '<blockquote><p>said</p></blockquote><ul><li><p>dot<br>ted</p></li></ul>';
    expect(mergeLogs(mine, theirs)).toBe(`${mine}${theirs}`);
  });

  test('copies an item with its nested lists', () => {
    const nested = '<ol><li><p>a</p><ul><li><p>x</p></li></ul></li></ol>';
    expect(mergeLogs(list('b'), nested)).toBe('<ol><li><p>b</p></li><li><p>a</p><ul><li><p>x</p></li></ul></li></ol>');
  });

  test('an empty version is replaced entirely', () => {
    expect(mergeLogs('<ol><li><p></p></li></ol>', list('theirs'))).toBe(list('theirs'));
    expect(mergeLogs(list('mine'), '')).toBe(list('mine'));
  });

  test('appends items to a list that does not start at one, as clean HTML', () => {
    const merged = mergeLogs('<ol start="4"><li><p>d &amp; e</p></li></ol>', list('f'));
    expect(merged).toBe('<ol start="4"><li><p>d &amp; e</p></li><li><p>f</p></li></ol>');
    expect(isCleanLog(merged)).toBe(true);
  });

  test('turns bare text into a paragraph', () => {
    expect(mergeLogs(list('mine'), 'bare words')).toBe(`${list('mine')}<p>bare words</p>`);
  });
});

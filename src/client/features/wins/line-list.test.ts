import fc from 'fast-check';
import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { DocumentLine, WinLine } from '#domain/documents/wins-document.ts';
import { insertByDate, insertHeading, moveLine, nudgeLine, putBack, removeLine } from './line-list.tsx';

const win = (id: string, date = '2026-03-02'): WinLine => ({ kind: 'win', id, date: day(date), text: id, source: id });
const heading = (id: string): DocumentLine => ({ kind: 'heading', id, text: id });
const idsOf = (lines: readonly DocumentLine[]): string => lines.map(({ id }) => id).join('');
const linesOf = (ids: string): DocumentLine[] => ids.split('').map((id) => win(id));

test.each([
  ['b', 0, 'bacd'],
  ['b', 1, 'abcd'],
  ['b', 2, 'abcd'],
  ['b', 3, 'acbd'],
  ['b', 4, 'acdb'],
  ['d', 0, 'dabc'],
  ['x', 0, 'abcd'],
])('moves %s to the place before line %s: %s', (id, to, expected) => {
  expect(idsOf(moveLine(linesOf('abcd'), id, to))).toBe(expected);
});

test.each([
  ['a', -1, 'abc'],
  ['a', 1, 'bac'],
  ['b', -1, 'bac'],
  ['c', 1, 'abc'],
] as const)('nudges %s by %s: %s', (id, by, expected) => {
  expect(idsOf(nudgeLine(linesOf('abc'), id, by))).toBe(expected);
});

test('takes every removal back to where the line was', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5 }), (index) => {
      const lines = linesOf('abcdef');
      const line = lines[index]!;
      const removed = removeLine(lines, line.id);
      expect(removed).toHaveLength(5);
      expect(putBack(removed, line, index)).toEqual(lines);
      expect(putBack(lines, line, index)).toEqual(lines);
    }),
  );
});

test.each([
  ['2026-03-01', 'hxac'],
  ['2026-03-02', 'haxc'],
  ['2026-03-03', 'haxc'],
  ['2026-03-09', 'hacx'],
])('inserts a win of %s by its day: %s', (date, expected) => {
  const lines = [heading('h'), win('a', '2026-03-02'), win('c', '2026-03-05')];
  expect(idsOf(insertByDate(lines, win('x', date)))).toBe(expected);
});

test('inserts a first win below the headings, and a heading above a line', () => {
  expect(idsOf(insertByDate([heading('h')], win('x')))).toBe('hx');
  expect(idsOf(insertHeading(linesOf('ab'), heading('h'), 'b'))).toBe('ahb');
  expect(idsOf(insertHeading(linesOf('ab'), heading('h'), null))).toBe('abh');
});

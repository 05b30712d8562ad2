import { expect, test } from 'vitest';
import { measureCpuMs } from '../../../../tests/support/cpu-time.ts';
import { compareLogs, hasChanges } from './compare-logs.ts';

const items = (...texts: string[]): string => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;
const SIGNS = { same: '=', removed: '-', added: '+', edited: '±' } as const;
const BRACKETS = { same: ['', ''], removed: ['[-', ']'], added: ['[+', ']'] } as const;

/** `± 1. Called [-Ann][+Ben]` for an edited line. */
const describeLines = (earlier: string, later: string): string[] =>
  compareLogs(earlier, later).map(({ change, marker, parts }) =>
    [
      SIGNS[change],
      marker,
      parts.map((part) => (change === 'edited' ? BRACKETS[part.change].join(part.text) : part.text)).join(''),
    ]
      .filter(Boolean)
      .join(' '),
  );

test('compares equal texts without changes', () => {
  const lines = compareLogs(items('one', 'two'), items('one', 'two'));
  expect(lines.map(({ change }) => change)).toEqual(['same', 'same']);
  expect(hasChanges(lines)).toBe(false);
  expect(hasChanges(compareLogs('', ''))).toBe(false);
});

test('shows removed lines in their place, and numbers the others like the later text', () => {
  expect(describeLines(items('one', 'two', 'three'), items('one', 'three', 'four'))).toEqual([
    '= 1. one',
    '- 2. two',
    '= 2. three',
    '+ 3. four',
  ]);
});

test('shows the words that changed within a line', () => {
  expect(describeLines(items('Called Ann about the offer'), items('Called Ben about the offer'))).toEqual([
    '± 1. Called [-Ann][+Ben] about the offer',
  ]);
});

test('shows the words that changed in a language without spaces', () => {
  expect(describeLines(items('私は昨日会議に行きました'), items('私は今日会議に行きました'))).toEqual([
    '± 1. 私は[-昨日][+今日]会議に行きました',
  ]);
});

test('shows a rewritten line as removed and added', () => {
  expect(describeLines(items('Called Ann'), items('Wrote the report'))).toEqual([
    '- 1. Called Ann',
    '+ 1. Wrote the report',
  ]);
});

test('pairs edited lines in order, with removed and added lines between them', () => {
  const earlier = items('Fixed the login bug', 'gone', 'Reviewed two pull requests');
  const later = items('new', 'Fixed the login bug at last', 'Reviewed three pull requests');
  expect(describeLines(earlier, later)).toEqual([
    '+ 1. new',
    '± 2. Fixed the login bug[+ at last]',
    '- 2. gone',
    '± 3. Reviewed [-two][+three] pull requests',
  ]);
});

test('shows an emptied log as removed and a new one as added', () => {
  expect(describeLines(items('one', 'two'), '')).toEqual(['- 1. one', '- 2. two']);
  expect(describeLines('<ol><li><p></p></li></ol>', items('one'))).toEqual(['+ 1. one']);
});

test('ignores the date header, and formatting that changes no word', () => {
  const header = '<h2 class="date-header">Sunday - November 22, 2026</h2>';
  expect(hasChanges(compareLogs(`${header}<p>one</p>`, '<p><strong>one</strong></p>'))).toBe(false);
});

test('keeps nested items, headings and entities', () => {
  const log = '<h2>Morning</h2><ul><li><p>a &amp; b</p><ul><li><p>c</p></li></ul></li></ul>';
  expect(compareLogs('', log)).toEqual([
    { change: 'added', marker: '', depth: 0, isHeading: true, parts: [{ change: 'added', text: 'Morning' }] },
    { change: 'added', marker: '•', depth: 1, isHeading: false, parts: [{ change: 'added', text: 'a & b' }] },
    { change: 'added', marker: '•', depth: 2, isHeading: false, parts: [{ change: 'added', text: 'c' }] },
  ]);
});

test('no word of either text is missing from the comparison', () => {
  const earlier = items('a b c', 'd e f', 'g h', 'i j k l', 'x y');
  const later = items('d e', 'a b', 'g h i', 'k l', 'new', 'i j k');
  const textOf = (changes: string[]) =>
    compareLogs(earlier, later)
      .map(({ parts }) =>
        parts
          .filter(({ change }) => changes.includes(change))
          .map(({ text }) => text)
          .join(''),
      )
      .filter(Boolean)
      .join('|');
  expect(textOf(['same', 'removed'])).toBe('a b c|d e f|g h|i j k l|x y');
  expect(textOf(['same', 'added'])).toBe('d e|a b|g h i|k l|new|i j k');
});

test('compares two long logs without a common line in limited time', async () => {
  const long = (prefix: string) => items(...Array.from({ length: 8_000 }, (_, index) => `${prefix} ${index}`));
  const compare = () => expect(compareLogs(long('before'), long('after'))).toHaveLength(16_000);
  expect(await measureCpuMs(compare)).toBeLessThan(5_000);
});

test('compares long logs whose lines all have the same words in another order in limited time', async () => {
  const shuffled = (step: number) => {
    const words = Array.from({ length: 1_000 }, (_, index) => (index * step) % 1_000).join(' ');
    return items(...Array.from({ length: 60 }, (_, index) => `${words} ${step + index}`));
  };
  const compare = () => expect(hasChanges(compareLogs(shuffled(1), shuffled(333)))).toBe(true);
  expect(await measureCpuMs(compare)).toBeLessThan(5_000);
});

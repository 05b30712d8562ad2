import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { daysOfPeriod, type DocumentLine } from './wins-document.ts';
import { candidateDays, groupedLines, proposedLines, type DayLog } from './win-candidates.ts';

describe('the periods of a new document', () => {
  test.each([
    ['this-year', '2026-02-14', '2026-01-01', '2026-12-31'],
    ['last-year', '2026-02-14', '2025-01-01', '2025-12-31'],
    ['this-quarter', '2026-02-14', '2026-01-01', '2026-03-31'],
    ['last-quarter', '2026-02-14', '2025-10-01', '2025-12-31'],
    ['last-quarter', '2026-12-31', '2026-07-01', '2026-09-30'],
  ] as const)('%s on %s is %s to %s', (period, today, from, to) => {
    expect(daysOfPeriod(period, day(today))).toEqual({ from, to });
  });
});

describe('the lines to pick', () => {
  const log = (date: string, ...items: string[]): DayLog => ({
    date: day(date),
    html: `<h2>Work</h2><p>Morning:</p><ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`,
    score: null,
  });
  const textsOf = (...logs: DayLog[]) => proposedLines(candidateDays(logs, [])).map(({ text }) => text);

  test('are every line of every day, oldest first, with the wins of reviews before them', () => {
    const days = candidateDays(
      [log('2026-03-03', 'Read mail', 'Read mail', 'Met'), log('2026-03-02', 'Shipped it')],
      [
        { date: day('2026-03-03'), text: 'Won the pitch' },
        { date: day('2026-03-03'), text: 'Met' },
      ],
    );
    expect(
      days.map(({ date, candidates }) => [date, candidates.map(({ text, isWin }) => (isWin ? `*${text}` : text))]),
    ).toEqual([
      ['2026-03-02', ['Shipped it']],
      ['2026-03-03', ['*Won the pitch', '*Met', 'Read mail']],
    ]);
  });

  test('leave out quick entries and empty logs', () => {
    const days = [
      { date: day('2026-03-02'), html: '<p>I am sick</p>', score: null },
      { date: day('2026-03-03'), html: '<ol><li><p></p></li></ol>', score: null },
    ];
    expect(candidateDays(days, [])).toEqual([]);
  });

  test('propose what stands out in a month', () => {
    const good = { ...log('2026-03-04', 'Planned the move'), score: 9 };
    expect(textsOf(log('2026-03-02', 'Read mail', 'Shipped it'), log('2026-03-03', 'Read mail'), good)).toEqual([
      'Shipped it',
      'Planned the move',
    ]);
  });

  test('propose lines of several days before a second line of one day, and those that say more', () => {
    const logs = Array.from({ length: 13 }, (_, index) =>
      log(`2026-03-${String(index + 10)}`, `Shipped ${'x'.repeat(index + 1)}`, `Closed ${'x'.repeat(40)}`),
    );
    const proposed = textsOf(...logs);
    expect(proposed).toHaveLength(12);
    expect(proposed.every((text) => text.startsWith('Shipped'))).toBe(true);
    expect(proposed).not.toContain('Shipped x');
  });

  test('propose the fullest days of a month in which nothing stands out', () => {
    expect(textsOf(log('2026-03-02', 'a', 'b'), log('2026-03-03', 'c'), log('2026-03-04', 'd', 'e', 'f'))).toEqual([
      'a',
      'd',
    ]);
  });

  test('propose at most four lines of each month of a year', () => {
    const logs = Array.from({ length: 12 }, (_, month) =>
      Array.from({ length: 20 }, (_day, index) =>
        log(
          `2026-${String(month + 1).padStart(2, '0')}-${String(index + 1).padStart(2, '0')}`,
          `Shipped ${month} ${index}`,
        ),
      ),
    ).flat();
    expect(textsOf(...logs)).toHaveLength(48);
  });

  test('stand under a heading for each quarter of a year, and under none in one month', () => {
    let id = 0;
    const newId = (): string => `${(id += 1)}`;
    const chosen = Array.from({ length: 12 }, (_, month) => ({
      date: day(`2026-${String(month + 1).padStart(2, '0')}-05`),
      text: 'Won',
      isWin: true,
    }));
    const headings = (lines: readonly DocumentLine[]) =>
      lines.filter(({ kind }) => kind === 'heading').map(({ text }) => text);
    expect(headings(groupedLines(chosen, newId))).toEqual([
      'January – March 2026',
      'April – June 2026',
      'July – September 2026',
      'October – December 2026',
    ]);
    expect(headings(groupedLines(chosen.slice(0, 3), newId))).toEqual(['January 2026', 'February 2026', 'March 2026']);
    expect(headings(groupedLines(chosen.slice(0, 1), newId))).toEqual([]);
    expect(new Set(groupedLines(chosen, newId).map((line) => line.id)).size).toBe(16);
  });
});

import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { isCleanLog } from '../log/entry-html.ts';
import { entryText } from '../log/entry-text.ts';
import { assembleDays, type AssembledDays, type LogEntry } from './assemble-days.ts';

const TODAY = day('2026-11-21');

function assemble(...entries: (Partial<Omit<LogEntry, 'day'>> & { day?: string })[]): AssembledDays {
  const base = { time: null, title: null, html: '<p>x</p>', exact: false, source: 'a.json', pictures: 0 };
  const assembling = assembleDays(
    entries.map(({ day: of = '2026-11-20', ...rest }) => ({ ...base, ...rest, day: day(of) })),
    TODAY,
  );
  for (;;) {
    const step = assembling.next();
    if (step.done) return step.value;
  }
}

describe('the days of an import', () => {
  test('join the entries of a day in the order of time, those without a time first', () => {
    const { days, skipped } = assemble(
      { html: '<p>late</p>', time: '21:05', pictures: 2 },
      { html: '<p>unknown</p>' },
      { html: '<p>early</p>', time: '07:30:10', pictures: 1 },
      { html: '<p>unknown too</p>' },
      { day: '2026-11-19', html: '<p>before</p>' },
    );
    expect(skipped).toEqual([]);
    expect(days.map(({ date }) => date)).toEqual(['2026-11-20', '2026-11-19']);
    expect(days[0]).toMatchObject({ exact: false, pictures: 3, coach: null });
    expect(isCleanLog(days[0]!.content)).toBe(true);
    expect(entryText(days[0]!.content).split(/\n+/)).toEqual(['unknown', 'unknown too', 'early', 'late']);
  });

  test('begin an entry with its title in bold, unless its text begins with the same words', () => {
    const { days } = assemble(
      { day: '2026-11-20', title: 'R&D <2>', html: '<p>text</p>' },
      { day: '2026-11-19', title: 'Same words', html: '<h1>Same words</h1><p>more</p>' },
      { day: '2026-11-18', title: 'Only a title', html: '' },
    );
    expect(days.map(({ content }) => content)).toEqual([
      '<p><strong>R&amp;D &lt;2&gt;</strong></p><p>text</p>',
      '<h1>Same words</h1><p>more</p>',
      '<p><strong>Only a title</strong></p>',
    ]);
  });

  test('leave out empty entries, later days and the longest entries of a day over the limit, with the reason', () => {
    const half = `<p>${'日'.repeat(45_000)}</p>`;
    const whole = half + half;
    const { days, skipped } = assemble(
      { html: '<p> </p>', source: 'empty' },
      { html: '', pictures: 3, source: 'photo' },
      { day: '2026-11-22', source: 'future' },
      { day: '2026-11-18', html: whole, source: 'long' },
      { day: '2026-11-17', html: '<p>short</p>', time: '07:30' },
      { day: '2026-11-17', html: half, source: 'second half' },
      { day: '2026-11-17', html: half },
      { day: '2026-11-17', html: whole, source: 'longer', pictures: 4 },
    );
    expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['empty', 'empty'],
      ['photo', 'onlyPictures'],
      ['future', 'futureDay'],
      ['long', 'tooLong'],
      ['second half', 'tooLong'],
      ['longer', 'tooLong'],
    ]);
    expect(days).toEqual([
      { date: '2026-11-17', content: `${half}<p></p><p>short</p>`, exact: false, pictures: 0, coach: null },
    ]);
  });

  test('keep the feedback and the exactness of a day of our own export alone', () => {
    const coach = { hustleScore: 7, feedback: 'Good', analyzedAt: null };
    const { days } = assemble(
      { day: '2026-11-20', exact: true, coach },
      { day: '2026-11-19', exact: true, coach },
      { day: '2026-11-19', exact: true, coach },
    );
    expect(days.map(({ exact, coach: own }) => [exact, own])).toEqual([
      [true, coach],
      [false, null],
    ]);
  });
});

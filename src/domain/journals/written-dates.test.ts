import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, day, dateLabel, dayLabel } from '../day/day.ts';
import { findContext, findDate, resolveDates } from './written-dates.ts';

const dayOf = (text: string): string | null => {
  const date = findDate(text);
  const [resolved] = date ? resolveDates([date], false) : [];
  return resolved ? ('day' in resolved ? resolved.day : resolved.reason) : null;
};

const anyDay = fc.integer({ min: 0, max: 60_000 }).map((count) => addDays(day('1900-01-01'), count));

describe('a written date', () => {
  test.each([
    '2024-05-01',
    '2024_05_01',
    '2024.05.01',
    '2024/5/1',
    '20240501',
    '20240501T093000',
    '2024-05-01 Wednesday',
    'Wed 2024-05-01',
    'Wednesday, May 1st, 2024',
    'May 1, 2024 10:30 AM',
    '1 May 2024',
    '01-May-2024',
    '1. Mai 2024',
    'mercredi 1er mai 2024',
    'miércoles, 1 de mayo de 2024',
    'mercoledì 1 maggio 2024',
    '1 мая 2024 г.',
    '1 Μαΐου 2024',
    '2024. május 1.',
    '2024. 5. 1.',
    '1 مايو 2024',
    'الأربعاء، ١ مايو ٢٠٢٤',
    '1 במאי 2024',
    'Wed, 01-05-24',
    '1 मई 2024',
    '２０２４/０５/０１',
    '2024年5月1日 星期三',
    '2024年5月1日(水)',
    '2024년 5월 1일 수요일',
    'Wednesday 01/05/2024',
    '01.05.2024',
    'notes-2024-05-01',
    'Wed May  1 09:30:00 CEST 2024',
    'Wed May  1 09:30:00 2024',
    'Wed  1 May 09:30:00 BST 2024',
    'Mi 1. Mai 09:30:00 CEST 2024',
    'mer. 01 mai 2024 09:30:00 CEST',
    'Wed May 1 09:30:00 AM UTC 2024',
  ])('is read from %s', (text) => {
    expect(dayOf(text)).toBe('2024-05-01');
  });

  test.each([
    'Chapter 3',
    '2024',
    '2024-05',
    '2024-W18',
    'v10.15.07',
    '192.168.2.1',
    '1.2.2024.3',
    'May be 2024',
    'release 13-05-24',
    '99/99/2024',
    'a3f20240501bc',
  ])('is not seen in %s', (text) => {
    expect(dayOf(text)).toBeNull();
  });

  test('that does not exist is told apart from none', () => {
    expect(dayOf('2024-02-30')).toBe('invalidDate');
    expect(dayOf('30 February 2024')).toBe('invalidDate');
  });

  test('has its time, and the rest of its line as a title', () => {
    expect(findDate('2024-05-01 14:05 — Launch')).toMatchObject({ time: '14:05:00', rest: 'Launch' });
    expect(findDate('May 1, 2024 11:13 PM (PDT)')).toMatchObject({ time: '23:13:00', rest: '' });
    expect(findDate('Wed May  1 09:30:05 PM CEST 2024 Launch')).toMatchObject({ time: '21:30:05', rest: 'Launch' });
    expect(findDate('mer. 01 mai 2024 09:30:00 CEST')).toMatchObject({ time: '09:30:00', rest: '' });
    expect(findDate('2024-05-01 09:30 NASA call')).toMatchObject({ time: '09:30:00', rest: 'NASA call' });
    expect(findDate('2025년 2월 6일 오후 2:30')).toMatchObject({ time: '14:30:00', rest: '' });
    expect(findDate('202405010930 Zettel')).toMatchObject({ time: '09:30:00', rest: 'Zettel' });
    expect(findDate('2024-05-01 1200 words')).toMatchObject({ time: null, rest: '1200 words' });
    expect(findDate('2024-05-01 Sun was shining')).toMatchObject({ rest: 'Sun was shining' });
    expect(findDate('Standup 2024-05-01')).toMatchObject({ rest: 'Standup', isFirst: false });
  });

  test('in numbers is ambiguous alone, and not beside a date that decides', () => {
    const resolve = (isSequence: boolean, ...texts: string[]) =>
      resolveDates(
        texts.map((text) => findDate(text)!),
        isSequence,
      ).map((date) => ('day' in date ? date.day : date.reason));
    expect(resolve(true, '03/04/2024')).toEqual(['ambiguousDate']);
    expect(resolve(true, '04/04/2024')).toEqual(['2024-04-04']);
    expect(resolve(true, '03/04/2024', '25/12/2024')).toEqual(['2024-04-03', '2024-12-25']);
    expect(resolve(true, '03/04/2024', '12/25/2024')).toEqual(['2024-03-04', '2024-12-25']);
    expect(resolve(true, '03/04/2024', '12/25/2024', '25/12/2024')).toEqual([
      'ambiguousDate',
      '2024-12-25',
      '2024-12-25',
    ]);
    const ascending = ['01/05/2024', '02/05/2024', '03/05/2024', '01/06/2024'];
    expect(resolve(true, ...ascending)).toEqual(['2024-05-01', '2024-05-02', '2024-05-03', '2024-06-01']);
    expect(resolve(false, ...ascending)).toEqual(Array.from({ length: 4 }, () => 'ambiguousDate'));
    expect(resolve(false, '24-05-01')).toEqual(['ambiguousDate']);
    expect(resolve(false, '2 listopada 2024', 'Wednesday, 2 listopada 2024')).toEqual(['ambiguousDate', '2024-10-02']);
  });

  test('takes its year from above', () => {
    expect(findContext('2024')).toEqual({ year: '2024', month: undefined });
    expect(findContext('2024-05')).toEqual({ year: '2024', month: '05' });
    expect(findContext('May 2024')).toEqual({ year: '2024', month: '05' });
    expect(findContext('5', { year: '2024' })).toEqual({ year: '2024', month: '05' });
    expect(findContext('05-May', { year: '2024' })).toEqual({ year: '2024', month: '05' });
    expect(findContext('Notes')).toBeNull();
    expect(findDate('Wed, May 1', { year: '2024' })?.readings.get('certain')).toBe('2024-05-01');
    expect(findDate('May 1')).toBeNull();
  });

  test('of every day comes back from English and from every locale that names its months in letters', () => {
    const locales = fc.constantFrom(
      'en-US',
      'en-GB',
      'de',
      'fr',
      'es',
      'it',
      'pt',
      'nl',
      'sv',
      'fi',
      'pl',
      'cs',
      'ru',
      'uk',
      'tr',
      'el',
      'ja',
      'zh',
      'ko',
      'hu',
      'ro',
    );
    fc.assert(
      fc.property(anyDay, locales, (of, locale) => {
        expect(dayOf(dayLabel(of))).toBe(of);
        expect(dayOf(dateLabel(of))).toBe(of);
        const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' }).format(
          new Date(`${of}T12:00:00Z`),
        );
        expect([full, dayOf(full)]).toEqual([full, of]);
      }),
    );
  });

  test('is looked for in any text, of which only the beginning counts', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void findDate(text)));
    for (const unit of ['2024-', '1.', 'May ', '((', '0', ' ', 'é']) expect(findDate(unit.repeat(20_000))).toBeNull();
    expect(findDate(`${'word '.repeat(200)}2024-05-01`)).toBeNull();
  });
});

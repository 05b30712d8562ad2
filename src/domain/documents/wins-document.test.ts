import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { entryText } from '../log/entry-text.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';
import {
  documentMarkdown,
  fileNameOf,
  formatContent,
  lineDate,
  parseContent,
  periodLabel,
  sectionsOf,
  type DocumentLine,
  type WinsDocument,
} from './wins-document.ts';

const win = (date: string, text: string): DocumentLine => ({
  kind: 'win',
  id: text,
  date: day(date),
  text,
  source: text,
});
const heading = (text: string): DocumentLine => ({ kind: 'heading', id: text, text });
const documentOf = (...lines: DocumentLine[]): WinsDocument => ({
  title: 'My year',
  author: 'Ada Smith',
  from: day('2026-01-01'),
  to: day('2026-12-31'),
  lines,
});

describe('a wins document', () => {
  test('comes back from its stored text', () => {
    const line = fc.oneof(
      fc.record({ kind: fc.constant('heading' as const), id: fc.string(), text: fc.string({ unit: 'grapheme' }) }),
      fc.record({
        kind: fc.constant('win' as const),
        id: fc.string(),
        date: fc.constant(day('2026-03-02')),
        text: fc.string({ unit: 'grapheme' }),
        source: fc.string(),
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.array(line), (author, lines) => {
        expect(parseContent(formatContent({ author, lines }))).toEqual({ author, lines });
      }),
    );
  });

  test.each([
    '',
    'null',
    '[]',
    '{"author":1,"lines":[]}',
    '{"author":"","lines":{}}',
    '{"author":"","lines":[null]}',
    '{"author":"","lines":[{"kind":"win","id":"1","text":"a","source":"a","date":"2026-02-30"}]}',
    '{"author":"","lines":[{"kind":"html","id":"1","text":"<script>"}]}',
  ])('is refused as a whole if a member is not one: %s', (text) => {
    expect(parseContent(text)).toBeNull();
  });

  test('leaves out blank lines and headings without text and wins', () => {
    const lines = [
      heading(' '),
      heading('Billing'),
      win('2026-03-02', ' Shipped\n it '),
      win('2026-03-02', ' '),
      heading(''),
    ];
    expect(sectionsOf({ lines })).toEqual([
      { heading: 'Billing', wins: [expect.objectContaining({ text: 'Shipped it' })] },
    ]);
  });

  test.each([
    ['2026-01-01', '2026-12-31', '2026'],
    ['2025-01-01', '2026-12-31', '2025 – 2026'],
    ['2026-07-01', '2026-09-30', 'July – September 2026'],
    ['2026-02-01', '2026-02-28', 'February 2026'],
    ['2025-11-01', '2026-01-31', 'November 2025 – January 2026'],
    ['2026-03-02', '2026-11-28', 'March 2 – November 28, 2026'],
    ['2026-11-24', '2026-11-29', 'November 24 – 29, 2026'],
    ['2025-12-24', '2026-01-02', 'December 24, 2025 – January 2, 2026'],
    ['2026-03-02', '2026-03-02', 'March 2, 2026'],
  ])('names the period from %s to %s as %s', (from, to, label) => {
    expect(periodLabel(day(from), day(to))).toBe(label);
  });

  test('shows the year of a day only in a document of several years', () => {
    const year = { from: day('2026-01-01'), to: day('2026-12-31') };
    expect(lineDate(day('2026-03-02'), year)).toBe('Mar 2');
    expect(lineDate(day('2026-03-02'), { ...year, from: day('2025-01-01') })).toBe('Mar 2, 2026');
  });

  test('becomes Markdown', () => {
    const text = documentMarkdown(
      documentOf(heading('Billing #'), win('2026-03-02', '# of *bugs* < 3'), heading('Team')),
    );
    expect(text).toBe(
      '# My year\n\nAda Smith  \n2026\n\n## Billing \\#\n\n- \\# of \\*bugs\\* < 3 (Mar 2)\n\n## Team\n',
    );
  });

  test('keeps every word in Markdown', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), (words) => {
        const [section] = sectionsOf({ lines: [win('2026-03-02', words)] });
        if (section === undefined) return;
        const html = parseMarkdown(documentMarkdown({ ...documentOf(win('2026-03-02', words)), author: '' }), {
          softBreaks: 'join',
        });
        expect(entryText(html)).toBe(`My year\n2026\n${section.wins[0]!.text} (Mar 2)`);
      }),
    );
  });

  test.each([
    ['My year: 2026 / Q3', 'My-year-2026-Q3.docx'],
    ['../../etc/passwd', 'etc-passwd.docx'],
    ['年度总结', '年度总结.docx'],
    ['***', 'wins.docx'],
  ])('names the file of %s %s', (title, name) => {
    expect(fileNameOf({ ...documentOf(), title }, 'docx')).toBe(name);
  });
});

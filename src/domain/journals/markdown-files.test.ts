import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, dateLabel, day, dayLabel, type Day } from '../day/day.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { markdownFiles } from './markdown-files.ts';

const read = (files: Record<string, string>, zone = 'UTC') => readFiles(markdownFiles, sourceFiles(files), zone);
const summary = async (files: Record<string, string>) =>
  (await read(files)).entries.map(({ day: of, title, body }) => [of, title, body.text]);
const reasons = async (files: Record<string, string>) =>
  (await read(files)).skipped.map(({ source, reason }) => [source, reason]);

describe('a folder of Markdown', () => {
  test('is recognised by names, front matter or headings that are dates', async () => {
    const program = (files: Record<string, string>) => detectProgram(sourceFiles(files));
    expect(await program({ 'Daily/2024-05-01.md': 'x', 'Notes/Plan.md': 'y' })).toBe('Markdown or text files');
    expect(await program({ 'a.md': '---\ndate: 2024-05-01\n---\nx' })).toBe('Markdown or text files');
    expect(await program({ 'journal.txt': '2024-05-01\nWork' })).toBe('Markdown or text files');
    expect(await program({ 'README.md': '# Read me' })).toBeNull();
  });

  test.each([
    '2024-05-01.md',
    '20240501.md',
    'Daily/2024_05_01.md',
    '2024/05/01.md',
    '2024/05-May/2024-05-01-Wednesday.md',
    'Journal/2024/May/1.md',
    '2024/05/01 Wed.txt',
    'Wednesday, May 1st, 2024.md',
    '1. Mai 2024.md',
    '2024年5月1日.md',
    '01.05.2024.md',
  ])('gives %s its day', async (path) => {
    expect(await summary({ [path]: 'Worked' })).toEqual([['2024-05-01', null, 'Worked']]);
  });

  test('takes the words of a name as title, unless the text begins with them', async () => {
    expect(await summary({ '2024-05-01 Launch day.md': 'Text' })).toEqual([['2024-05-01', 'Launch day', 'Text']]);
    expect(await summary({ 'Launch day 2024-05-01.md': '# Launch day\n\nText' })).toEqual([
      ['2024-05-01', null, '# Launch day\n\nText'],
    ]);
    expect(await summary({ '202405010930.md': 'Text' })).toEqual([['2024-05-01', null, 'Text']]);
    expect(
      await summary({ '2024/05/01/Launch.md': 'a', '2024-05-02/notes.txt': 'b', '2024-05-03/01.md': 'c' }),
    ).toEqual([
      ['2024-05-01', 'Launch', 'a'],
      ['2024-05-02', 'notes', 'b'],
      ['2024-05-03', null, 'c'],
    ]);
    expect((await read({ '202405010930.md': 'Text' })).entries[0]!.time).toBe('09:30:00');
  });

  test('leaves out the heading that repeats the day, front matter, links of the vault and pictures', async () => {
    const note =
      '---\ntags: [daily]\nmood: 5\n---\n# Wednesday, May 1st, 2024\n\nMet [[Ann Lee|Ann]] ^a1b2c3\n![[shot.png]]\n';
    expect(await read({ 'Daily/2024-05-01.md': note })).toMatchObject({
      entries: [{ body: { format: 'markdown', text: 'Met Ann' }, pictures: 1 }],
    });
  });

  test('resolves names in numbers by one another, and refuses them alone', async () => {
    expect(await summary({ '03-04-2024.md': 'a', '25-12-2024.md': 'b' })).toEqual([
      ['2024-04-03', null, 'a'],
      ['2024-12-25', null, 'b'],
    ]);
    expect(await reasons({ '03-04-2024.md': 'a' })).toEqual([['03-04-2024.md', 'ambiguousDate']]);
  });

  test('names trash, templates, notes without a date and impossible dates', async () => {
    const files = {
      '.trash/2024-05-02.md': 'x',
      '.obsidian/app.json': '{}',
      'Templates/Daily.md': '# {{date}}',
      'Plan.md': 'x',
      '2024-02-30.md': 'x',
      '2024-05-01.md': 'x',
    };
    expect(await reasons(files)).toEqual([
      ['.trash/2024-05-02.md', 'trashed'],
      ['Templates/Daily.md', 'template'],
      ['Plan.md', 'noDate'],
      ['2024-02-30.md', 'invalidDate'],
    ]);
  });

  test('dates a note by its front matter, in its own zone or the user’s', async () => {
    const at = async (value: string, zone = 'America/Los_Angeles') =>
      (await read({ 'Note.md': `---\ncreated: ${value}\n---\nx` }, zone)).entries[0];
    expect(await at('2024-05-01')).toMatchObject({ day: '2024-05-01', time: null, title: 'Note' });
    expect(await at('2024-05-01T23:30:00+14:00')).toMatchObject({ day: '2024-05-01', time: '23:30:00' });
    expect(await at('2024-05-01T03:30:00Z')).toMatchObject({ day: '2024-04-30', time: '20:30:00' });
    expect(await at('2024-05-01T12:30:00Z', 'Pacific/Kiritimati')).toMatchObject({ day: '2024-05-02' });
    expect(await at('"[[May 1, 2024]]"')).toMatchObject({ day: '2024-05-01' });
    expect(await at('[[2024-05-01]]')).toMatchObject({ day: '2024-05-01' });
    // Site generators write a day as midnight in UTC.
    expect(await at('2024-05-01T00:00:00Z')).toMatchObject({ day: '2024-05-01', time: null });
    const toml = { 'Note.md': '+++\ndate = 2024-05-01T23:30:00+14:00\ntitle = "One: two"\n[extra]\n+++\nx' };
    expect((await read(toml)).entries).toMatchObject([{ day: '2024-05-01', title: 'One: two', body: { text: 'x' } }]);
  });

  test('reads text bundles of Bear by their creation', async () => {
    const info = (fields: object) =>
      JSON.stringify({ version: 2, 'net.shinyfrog.bear': { creationDate: '2024-05-01T23:30:00Z', ...fields } });
    const files = {
      'One.textbundle/text.md': '# One\n\nText',
      'One.textbundle/info.json': info({ trashed: 0 }),
      'Two.textbundle/text.md': 'gone',
      'Two.textbundle/info.json': info({ trashed: 1 }),
      '2024-04-30.textbundle/text.md': 'Dated',
      '2024-04-30.textbundle/info.json': info({}),
    };
    const { entries, skipped } = await read(files, 'Pacific/Kiritimati');
    expect(entries.map(({ day: of, title }) => [of, title])).toEqual([
      ['2024-05-02', null],
      ['2024-04-30', null],
    ]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'Two.textbundle/text.md', reason: 'trashed' }]);
  });
});

describe('a file with dated headings', () => {
  const sections = (text: string, path = 'journal.md') => summary({ [path]: text });

  test.each([
    ['# 2024-05-01\n\nOne\n\n# 2024-05-02 — Launch\nTwo'],
    ['## Wednesday, May 1, 2024\nOne\n## May 2, 2024: Launch\nTwo'],
    ['2024-05-01\n==========\nOne\n\n2024-05-02 Launch\n==========\nTwo'],
    ['# 2024\n\n## May\n\n### 1\nOne\n### 2 May Launch\nTwo'],
    ['# Journal\n\n# 05/01/2024\nOne\n# 05/02/2024 Launch\nTwo\n# 05/31/2024\n'],
  ])('%j becomes two days', async (text) => {
    const days = (await sections(text)).filter(([, , body]) => body !== '');
    expect(days).toEqual([
      ['2024-05-01', null, 'One'],
      ['2024-05-02', 'Launch', 'Two'],
    ]);
  });

  test('may be plain text with dates on lines of their own', async () => {
    const text = '\uFEFFMay 1st, 2024\r\nOne on 2024-01-01\r\n2024-01-01 is not alone\r\n\r\n2 May 2024 18:30\r\nTwo';
    const { entries } = await read({ 'diary.txt': text });
    expect(entries.map(({ day: of, time, body }) => [of, time, body])).toEqual([
      ['2024-05-01', null, { format: 'text', text: 'One on 2024-01-01\n2024-01-01 is not alone' }],
      ['2024-05-02', '18:30:00', { format: 'text', text: 'Two' }],
    ]);
  });

  test('may name the date of each entry in a line', async () => {
    const text = 'Date:    2024-05-01\nWords:   3\n\nI wrote words\n\nDate: 2024-05-02\nmore\n';
    const { entries } = await readFiles(markdownFiles, sourceFiles({ 'words.txt': text }));
    expect(entries.map((entry) => [entry.day, entry.body.text])).toEqual([
      ['2024-05-01', 'Words:   3\n\nI wrote words'],
      ['2024-05-02', 'more'],
    ]);
  });

  test('keeps deeper headings, code and sentences with dates in the day', async () => {
    const body = '## 2024-04-01 deploy\ntext\n```\n# 2024-03-01\n```\n2024-02-01 was earlier';
    expect(await sections(`# 2024-05-01\n${body}`)).toEqual([['2024-05-01', null, body]]);
  });

  test.each([
    ['# 1. Mai 2024', '2024-05-01'],
    ['## 2 May 2024', '2024-05-02'],
    ['# 5. Mai 2024', '2024-05-05'],
    ['# 10 October 2024', '2024-10-10'],
    ['# 2024\n## 3. März', '2024-03-03'],
    ['# 2024\n## 3 March', '2024-03-03'],
    ['# 2024\n## 03 - March\n### 7', '2024-03-07'],
    ['# Mai 2024\n## 1. Mai', '2024-05-01'],
  ])('takes %j for a day, however its number stands before the month', async (heading, expected) => {
    expect(await sections(`${heading}\nOne`)).toEqual([[expected, null, 'One']]);
  });

  test('takes the year of the folder or name', async () => {
    expect(await sections('## May 1\nOne', '2024.md')).toEqual([['2024-05-01', null, 'One']]);
    expect(await sections('## 1\nOne', 'notes/2024/05.md')).toEqual([['2024-05-01', null, 'One']]);
  });

  test('names what stands before the first date, and dates that cannot be told', async () => {
    expect(await reasons({ 'a.md': '# Diary\nIntro\n# 2024-05-01\nx' })).toEqual([
      ['a.md, before the first date', 'noDate'],
    ]);
    expect(await reasons({ 'a.md': '# 03/04/2024\nx\n# 04/03/2024\ny' })).toEqual([
      ['a.md, date 1', 'ambiguousDate'],
      ['a.md, date 2', 'ambiguousDate'],
    ]);
    expect(await reasons({ 'a.md': '# 2024-02-30\nx' })).toEqual([['a.md, date 1', 'invalidDate']]);
  });

  test('gives back every day that was written, in any form of heading', async () => {
    const forms: ((of: Day) => string)[] = [
      (of) => `# ${of}`,
      (of) => `## ${dayLabel(of)}`,
      (of) => `${dateLabel(of)}\n---`,
      (of) => `**${of.replaceAll('-', '/')}**`,
      (of) => of,
      (of) => `### ${of.slice(8)}.${of.slice(5, 7)}.${of.slice(0, 4)}`,
      ...['en-GB', 'de', 'fr', 'es', 'cs', 'nb'].map((locale) => {
        const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
        return (of: Day) => `# ${format.format(new Date(of))}`;
      }),
    ];
    const line = fc.stringMatching(/^[a-z ]{1,20}$/).map((text) => `x${text}`.trim());
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...forms),
        fc.integer({ min: 1, max: 20_000 }),
        fc.array(line, { minLength: 1, maxLength: 6 }),
        async (form, first, lines) => {
          const days = lines.map((_, index) => addDays(day('1970-01-01'), first + index));
          const text = days.map((of, index) => `${form(of)}\n\n${lines[index]!}\n`).join('\n');
          expect(await sections(text)).toEqual(days.map((of, index) => [of, null, lines[index]]));
        },
      ),
    );
  });
});

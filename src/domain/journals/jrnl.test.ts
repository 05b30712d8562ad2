import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { SKIP_REASONS } from './journal-reader.ts';
import { jrnl } from './jrnl.ts';

const exportOf = (...entries: unknown[]): string => JSON.stringify({ tags: { '@work': 1 }, entries });

describe('the JSON export of jrnl', () => {
  test('is recognised by its tags and entries, and other JSON is not', async () => {
    expect(await detectProgram(sourceFiles({ 'journal.json': exportOf() }))).toBe('jrnl');
    for (const other of ['{"entries":[]}', '{"entries":[{"date":"2024-01-08","heading":"A","text":"b"}]}'])
      expect(await detectProgram(sourceFiles({ 'other.json': other }))).not.toBe('jrnl');
    expect(await detectProgram(sourceFiles({ 'notes.txt': exportOf() }))).toBeNull();
  });

  test.each([
    [
      'more tags than the beginning holds',
      `{"tags":{${Array.from({ length: 400 }, (_, at) => `"@tag${at}":${at}`).join(',')}},"entries":[]}`,
    ],
    [
      'its entries first',
      JSON.stringify({
        entries: [{ title: 'A', body: '', date: '2024-01-08', time: '19:00', starred: false }],
        tags: {},
      }),
    ],
  ])('is recognised with %s', async (_, text) => {
    expect(await detectProgram(sourceFiles({ 'a.json': text }))).toBe('jrnl');
  });

  test('gives each entry its own date and time, and names entries without a readable date', async () => {
    const text = exportOf(
      { title: 'Back to work.', body: 'Two *calls*.', date: '2024-01-08', time: '19:00', tags: [], starred: false },
      { title: '', body: 'No title', date: '2024-01-09', time: 'late' },
      { title: 'x', body: '', date: '2024-02-30', time: '07:00' },
      { title: 'x', body: '' },
      null,
    );
    const { entries, skipped } = await readFiles(jrnl, sourceFiles({ 'j/journal.json': text }));
    const common = { kind: 'entry', pictures: 0 };
    expect(entries).toEqual([
      {
        ...common,
        day: '2024-01-08',
        time: '19:00:00',
        title: 'Back to work.',
        body: { format: 'markdown', text: 'Two *calls*.' },
        source: 'j/journal.json, entry 1',
      },
      {
        ...common,
        day: '2024-01-09',
        time: null,
        title: null,
        body: { format: 'markdown', text: 'No title' },
        source: 'j/journal.json, entry 2',
      },
    ]);
    expect(skipped.map(({ source, reason }) => `${source}: ${SKIP_REASONS[reason]}`)).toEqual([
      'j/journal.json, entry 3: This date does not exist.',
      'j/journal.json, entry 4: No date found.',
      'j/journal.json, entry 5: No date found.',
    ]);
  });

  test.each([
    ['2024/05/01', '09:15', '2024-05-01', '09:15:00'],
    ['01.05.2024', '9:15 PM', '2024-05-01', '21:15:00'],
    ['31/05/2024', '21.15', '2024-05-31', null],
    ['05/31/2024', '09:15:30 AM', '2024-05-31', '09:15:30'],
    ['Wed 01 May 2024', '', '2024-05-01', null],
  ])('reads the date %j and the time %j of another configuration', async (date, time, day, read) => {
    const { entries } = await readFiles(jrnl, sourceFiles({ 'a.json': exportOf({ title: 'A', date, time }) }));
    expect(entries).toMatchObject([{ day, time: read }]);
  });

  test('chooses the order of day and month by all entries', async () => {
    const text = exportOf({ title: 'A', date: '05/06/2024' }, { title: 'B', date: '14/06/2024' });
    const { entries } = await readFiles(jrnl, sourceFiles({ 'a.json': text }));
    expect(entries.map(({ day }) => day)).toEqual(['2024-06-05', '2024-06-14']);
    const alone = await readFiles(jrnl, sourceFiles({ 'a.json': exportOf({ title: 'A', date: '05/06/2024' }) }));
    expect(alone.skipped).toMatchObject([{ reason: 'ambiguousDate' }]);
  });

  test('reports a damaged file', async () => {
    const { entries, skipped } = await readFiles(jrnl, sourceFiles({ 'journal.json': '{"tags":{},"entries":[{' }));
    expect(entries).toEqual([]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'journal.json', reason: 'broken' }]);
  });
});

describe('a journal of jrnl', () => {
  const read = (contents: Record<string, string>) => readFiles(jrnl, sourceFiles(contents));

  test.each([
    ['[2019-07-18 14:23] The first entry', '2019-07-18', '14:23:00', 'The first entry'],
    ['[2019-07-18 02:23:04 PM] * The first entry', '2019-07-18', '14:23:04', 'The first entry'],
    ['[Thu 18 Jul 2019 02:23:00 PM CEST] The first entry', '2019-07-18', '14:23:00', 'The first entry'],
    ['2019-07-18 14:23 The first entry *', '2019-07-18', '14:23:00', 'The first entry'],
    ['18.07.2019 14:23 The first entry', '2019-07-18', '14:23:00', 'The first entry'],
    ['[18 July 2019 14:23] He said "[this] is it"', '2019-07-18', '14:23:00', 'He said "[this] is it"'],
    ['[2019-07-18 14:23] 5 * 3', '2019-07-18', '14:23:00', '5 * 3'],
  ])('reads the line %s', async (line, day, time, title) => {
    const files = { 'work/journal.txt': `${line}\n[1] a footnote\n  indented\n\n[2019-07 14:23] no date\n` };
    expect(await detectProgram(sourceFiles(files))).toBe('jrnl');
    const { entries, skipped } = await read(files);
    expect(skipped).toEqual([]);
    expect(entries).toMatchObject([
      { day, time, title, body: { format: 'markdown', text: '[1] a footnote\n  indented\n\n[2019-07 14:23] no date' } },
    ]);
  });

  test('the dates of a file tell the order of day and month', async () => {
    const { entries } = await read({ journal: '[05/06/2019 09:00] a\n\n[05/28/2019 09:00] b\n' });
    expect(entries.map(({ day }) => day)).toEqual(['2019-05-06', '2019-05-28']);
    const { skipped } = await read({ journal: '[05/06/2019 09:00] a\n' });
    expect(skipped).toEqual([{ kind: 'skipped', source: 'journal, line 1', reason: 'ambiguousDate' }]);
  });

  test.each(['\r\n', '\r'])('reads lines that end with %j', async (end) => {
    const files = { 'a.txt': ['[2019-07-18 14:23] One', 'more', '', '[2019-07-19 14:23] Two', ''].join(end) };
    expect(await detectProgram(sourceFiles(files))).toBe('jrnl');
    const { entries } = await read(files);
    expect(entries).toMatchObject([{ title: 'One', body: { text: 'more' } }, { title: 'Two' }]);
  });

  test('reads a folder of files by day, and reports text above the first date', async () => {
    const { entries, skipped } = await read({
      'j/2019/07/18.txt': '[2019-07-18 14:23] One\n',
      'j/2019/07/19.txt': 'Stray words\n[2019-07-19 14:23] Two\n',
      'j/2019/07/20.txt': 'Nothing dated',
    });
    expect(entries.map(({ title }) => title)).toEqual(['One', 'Two']);
    expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
      'j/2019/07/19.txt, before the first date: noDate',
      'j/2019/07/20.txt: noDate',
    ]);
  });

  test('reads the YAML export', async () => {
    const files = {
      'out/2013-06-09_a.md':
        '---\ntitle: My: first "entry"\ndate: 2013-06-09 15:39\nstarred: False\ntags: work, idea\nbody: |\t\t\n\t\tEverything is alright\n\t\t\n\t\t- one\n\t\t\t- two\n...',
    };
    expect(await detectProgram(sourceFiles(files))).toBe('jrnl');
    expect((await read(files)).entries).toMatchObject([
      {
        day: '2013-06-09',
        time: '15:39:00',
        title: 'My: first "entry"',
        body: { text: 'Everything is alright\n\n- one\n\t- two' },
      },
    ]);
  });

  test('reads a YAML export whose text has its marks, and one of version 1', async () => {
    const files = {
      'out/2013-06-09_a.md':
        '---\ntitle: A\ndate: 2013-06-09 15:39\nstarred: False\ntags: \nbody: |\t\t\n\t\tWe waited...\n\t\tbody: |\n\t\t...\n\t\tIt came...\n...',
      'out/2013-06-10_b.md': 'title: B\ndate: 2013-06-10 09:00\nstared: False\ntags: work\n\nIt came...\n',
    };
    expect(await detectProgram(sourceFiles(files))).toBe('jrnl');
    expect((await read(files)).entries.map(({ title, body }) => [title, body.text])).toEqual([
      ['A', 'We waited...\nbody: |\n...\nIt came...'],
      ['B', 'It came...'],
    ]);
  });

  test('names an encrypted journal', async () => {
    const files = { 'journal.txt': `gAAAAABVIHB7tnwKExG7aC5ZbAbBL9SG2wY7MSbPhLmSpGQdH5hs${'A'.repeat(60)}==` };
    expect(await detectProgram(sourceFiles(files))).toBe('jrnl');
    expect((await read(files)).skipped).toEqual([{ kind: 'skipped', source: 'journal.txt', reason: 'encrypted' }]);
  });
});

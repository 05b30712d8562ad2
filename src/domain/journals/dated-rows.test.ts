import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { datedRows } from './dated-rows.ts';

const read = (text: string, path = 'a.csv') => readFiles(datedRows, sourceFiles({ [path]: text }));

const DAYLIO = `\uFEFFfull_date,date,weekday,time,mood,activities,note_title,note
2024-05-02,May 2,Thursday,9:15 PM,rad,"work | sport","Launch, at last","Shipped it.<br>Then ""tea""."
2024-05-02,May 2,Thursday,08:00,good,"",,"Two lines
of a note"
2024-05-01,May 1,Wednesday,22:10,meh,reading,,
`;

test('reads the export of Daylio, and names entries that are a mood alone', async () => {
  const files = sourceFiles({ 'daylio_export_2024_05_03.csv': DAYLIO });
  expect(await detectProgram(files)).toBe('CSV table');
  expect(datedRows.programOf!(files)).toBe('Daylio');
  const { entries, skipped } = await readFiles(datedRows, files);
  expect(entries.map(({ day, time, title, body }) => [day, time, title, body.format, body.text])).toEqual([
    ['2024-05-02', '21:15:00', 'Launch, at last', 'html', 'Shipped it.<br>Then "tea".'],
    ['2024-05-02', '08:00:00', null, 'text', 'Two lines\nof a note'],
  ]);
  expect(skipped).toMatchObject([{ source: 'daylio_export_2024_05_03.csv, row 4', reason: 'empty' }]);
});

test.each([
  [
    'Daylio before 2020',
    'year,date,weekday,time,mood,activities,note\n2018,18 May,Friday,11:54 pm,ok,"",Went out',
    '2018-05-18',
  ],
  ['semicolons and dots', 'Datum;Notiz\n18.05.2018;"Ging; aus"', '2018-05-18'],
  ['tabs', 'Day\tTitle\tText\n2018-05-18\t\tWent out', '2018-05-18'],
  ['two columns of which one is no known text', 'Date,Wins\n2018/05/18,Went out', '2018-05-18'],
  ['an instant with a zone', 'Created At,Body,Tags\n2018-05-18T23:10:00+02:00,Went out,x', '2018-05-18'],
  ['a line for Excel', 'sep=;\nDate;Text\n2018-05-18;Went out', '2018-05-18'],
  ['CRLF and a blank last row', 'Date,Text\r\n2018-05-18,Went out\r\n,\r\n', '2018-05-18'],
])('reads a table with %s', async (_what, text, day) => {
  const { entries, skipped } = await read(text);
  expect([entries.map((entry) => entry.day), skipped]).toEqual([[day], []]);
  expect(entries[0]!.body.text).toMatch(/^(?:Went out|Ging; aus)$/);
});

test.each([
  ['Created,Text\n2024-05-01T23:30:00Z,x\n', '2024-05-02', '08:30:00'],
  ['timestamp,text\n1714602600,x\n', '2024-05-02', '07:30:00'],
  ['Date,Text\n2024-05-01T00:00:00.000Z,x\n', '2024-05-01', null],
  ['Date,Text\n2024-05-01T23:30:00-07:00,x\n', '2024-05-01', '23:30:00'],
  ['Date,Text\n2024-05-01 23:30,x\n', '2024-05-01', '23:30:00'],
])('reads an instant in the user’s zone, and a clock as it is written: %j', async (text, day, time) => {
  const { entries } = await readFiles(datedRows, sourceFiles({ 'a.csv': text }), 'Asia/Tokyo');
  expect(entries).toMatchObject([{ day, time }]);
});

test.each([
  ['Date,Text\n2024-05-01,Went home, slept, woke\n2024-05-02,b,,\n', ['Went home, slept, woke', 'b']],
  ['Text;Mood;Date\nHome; slept;3;2024-05-01\nb;3;2024-05-02\n', ['Home; slept', 'b']],
])('keeps a text with separators outside of quotation marks: %j', async (text, texts) => {
  const { entries } = await read(text);
  expect(entries.map(({ day, body }) => [day, body.text])).toEqual([
    ['2024-05-01', texts[0]],
    ['2024-05-02', texts[1]],
  ]);
});

test.each([
  ['Date,Text\n2024-05-01,a\n2024-05-02,"b" c, "d"\n2024-05-03,e\n', ['a', 'b c, "d"', 'e']],
  ['Text,Date\n"a" b,2024-05-01\n"c ""d""",2024-05-02\nè,2024-05-03\n', ['a b', 'c "d"', 'è']],
])('keeps the text behind a closing quotation mark, and the rows after it: %j', async (text, texts) => {
  const { entries, skipped } = await read(text);
  expect(skipped).toEqual([]);
  expect(entries.map(({ day, body }) => [day, body.text])).toEqual([
    ['2024-05-01', texts[0]],
    ['2024-05-02', texts[1]],
    ['2024-05-03', texts[2]],
  ]);
});

test('chooses the order of day and month by all rows', async () => {
  const { entries } = await read('Date,Text\n05/06/2024,a\n05/14/2024,b\n');
  expect(entries.map(({ day }) => day)).toEqual(['2024-05-06', '2024-05-14']);
  expect((await read('Date,Text\n05/06/2024,a\n')).skipped).toMatchObject([{ reason: 'ambiguousDate' }]);
});

test('names rows without a date, and the row that a cut file breaks off', async () => {
  const { entries, skipped } = await read('Date,Text\nsoon,a\n2024-05-01,b\n2024-05-02,"c and mo');
  expect(entries.map(({ body }) => body.text)).toEqual(['b']);
  expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
    ['a.csv, row 2', 'noDate'],
    ['a.csv, row 4', 'broken'],
  ]);
});

const LIST = [
  { id: 1, createdAt: '2024-05-01T23:30:00.000Z', title: 'First', content: 'Shipped it', tags: ['x'] },
  { id: 2, createdAt: '2024-05-03T00:00:00.000Z', title: null, content: '<p>Two <b>things</b></p>', mood: 4 },
];
test.each([
  ['a list', LIST],
  ['a list of objects in objects', { entries: LIST.map((entry) => ({ entry })) }],
  ['a list in an object', { version: 2, settings: { theme: 'dark' }, data: { entries: LIST } }],
  ['other names', LIST.map(({ createdAt, title, content }) => ({ created_at: createdAt, title, body: content }))],
  [
    'seconds since 1970',
    LIST.map(({ createdAt, ...entry }) => ({ ...entry, timestamp: Date.parse(createdAt) / 1000 })).slice(0, 1),
  ],
])('reads %s in JSON', async (_what, content) => {
  for (const json of [JSON.stringify(content), JSON.stringify(content, null, 2)]) {
    const files = sourceFiles({ 'export.json': json });
    expect(await detectProgram(files)).toBe(datedRows.program);
    expect(datedRows.programOf!(files)).toBe('JSON list');
    const { entries, skipped } = await readFiles(datedRows, files, 'Asia/Tokyo');
    expect(skipped).toEqual([]);
    expect(entries.map(({ day, title, body, source }) => [day, title, body.text, source])).toEqual(
      [
        ['2024-05-02', 'First', 'Shipped it', 'export.json, entry 1'],
        ['2024-05-03', null, '<p>Two <b>things</b></p>', 'export.json, entry 2'],
      ].slice(0, entries.length),
    );
    expect(entries.length).toBe(json.includes('timestamp') ? 1 : 2);
  }
});

test.each([
  { '2024-05-01': 'a', '2024-05-02': 'b' },
  { days: { '2024-05-01': { text: 'a', mood: 3 }, '2024-05-02': { text: 'b' } } },
])('reads texts that are named by their days: %j', async (content) => {
  const files = sourceFiles({ 'diary.json': JSON.stringify(content) });
  const { entries } = await readFiles(datedRows, files);
  expect(entries.map(({ day, body }) => [day, body.text])).toEqual([
    ['2024-05-01', 'a'],
    ['2024-05-02', 'b'],
  ]);
});

test('reads all lists, each with the names of its own', async () => {
  const content = {
    '2023': [{ date: '2023-05-01', text: 'a' }],
    work: { entries: [{ createdAt: '2024-05-01', body: 'b', title: 'c' }] },
    tags: [{ name: 'x' }],
  };
  const { entries, skipped } = await read(JSON.stringify(content), 'a.json');
  expect(entries.map(({ day, title, body }) => [day, title, body.text])).toEqual([
    ['2023-05-01', null, 'a'],
    ['2024-05-01', 'c', 'b'],
  ]);
  expect(skipped).toEqual([]);
});

test('reads an object on each line', async () => {
  for (const path of ['a.jsonl', 'a.ndjson']) {
    const files = sourceFiles({
      [path]: '{"date":"2024-05-01","text":"a\\nb"}\r\n\n{"date":"2024-05-02","text":"c"}\n',
    });
    expect(await detectProgram(files)).toBe(datedRows.program);
    const { entries } = await readFiles(datedRows, files);
    expect(entries.map(({ body }) => body.text)).toEqual(['a\nb', 'c']);
  }
});

test('names what of a list has no date or no text', async () => {
  const content = [
    { date: '2024-05-01', text: 'a' },
    { text: 'b' },
    { date: '2024-05-02', text: 7 },
    { date: '2024-05-03' },
    'c',
    {},
  ];
  const { entries, skipped } = await read(JSON.stringify(content), 'a.json');
  expect(entries.map(({ body }) => body.text)).toEqual(['a', '7']);
  expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
    ['a.json, entry 2', 'noDate'],
    ['a.json, entry 4', 'empty'],
  ]);
});

test('leaves other tables alone', async () => {
  for (const text of ['Name,Hours\nAnn,3\n', 'Date,Amount,Currency\n2024-05-01,3,EUR\n', '', '"'])
    expect(await detectProgram(sourceFiles({ 'a.csv': text }))).toBeNull();
  for (const content of [
    { a: 1 },
    [],
    [1, 2],
    [{ name: 'Ann', date: '2024-05-01', amount: 3 }],
    { text: 'b', date: '2024-05-01' },
    null,
  ])
    expect(await detectProgram(sourceFiles({ 'a.json': JSON.stringify(content) }))).toBeNull();
});

test('reads a cell of 20 MB', async () => {
  const { entries } = await read(`Date,Text\n2024-05-01,"${'a'.repeat(20_000_000)}"\n`);
  expect(entries[0]!.body.text).toHaveLength(20_000_000);
});

test('takes linear time', async () => {
  // Quadratic time would exceed the test's timeout.
  for (const part of ['"', '""', '",', '2024-05-01,"x\n', '\n', ',']) await read(`Date,Text\n${part.repeat(300_000)}`);
  const list = Array.from({ length: 20_000 }, (_, at) => ({ date: '2024-05-01', text: 'x', [`name ${at}`]: at }));
  expect((await read(JSON.stringify(list), 'a.json')).entries).toHaveLength(list.length);
  await read(`{"date":"2024-05-01","text":"a${' '.repeat(300_000)}b"}`, 'a.jsonl');
});

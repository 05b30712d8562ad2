import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { miniDiary } from './mini-diary.ts';

const read = (entries: unknown) =>
  readFiles(miniDiary, sourceFiles({ 'd.json': JSON.stringify({ metadata: { application: 'Mini Diary' }, entries }) }));

test('reads the days of Mini Diary as Markdown', async () => {
  const { entries, skipped } = await read({
    '2019-01-01': { title: ' One\nline ', text: '**bold**\n\n- a' },
    '2019-02-30': { title: 'x', text: '' },
    '2019-01-02': { title: '', text: ' ' },
  });
  expect(entries).toMatchObject([
    {
      day: '2019-01-01',
      time: null,
      title: 'One line',
      body: { format: 'markdown', text: '**bold**\n\n- a' },
      source: 'd.json, 2019-01-01',
    },
  ]);
  expect(skipped.map(({ reason }) => reason)).toEqual(['invalidDate', 'empty']);
});

test('reads the HTML and the lists of Mini Diarium', async () => {
  const html = '<p>Hi <img src="data:image/png;base64,AA"></p>';
  const list = await read([
    { date: '2024-05-01', title: 'A', text: html },
    { title: 'no date', text: 'x' },
  ]);
  expect(list.entries).toMatchObject([{ day: '2024-05-01', body: { format: 'html', text: html }, pictures: 1 }]);
  expect(list.skipped).toMatchObject([{ source: 'd.json, entry 2', reason: 'noDate' }]);
  const days = await read({
    '2024-05-01': [
      { title: 'A', text: 'x' },
      { title: 'B', text: 'y' },
    ],
  });
  expect(days.entries.map(({ title }) => title)).toEqual(['A', 'B']);
});

test('a file of Mini Diary without entries is damaged', async () => {
  expect((await read(null)).skipped).toMatchObject([{ source: 'd.json', reason: 'broken' }]);
});

test('a file of Mini Diary that does not name the program is recognised by its days', async () => {
  const text =
    '{ "metadata": { "version": "3.3.0" }, "entries": { "2024-01-01": { "dateUpdated": "Sun Feb 15 2026 14:08:04 GMT+0100", "title": "T", "text": "x" } } }';
  expect(await detectProgram(sourceFiles({ 'a.json': text }))).toBe('Mini Diary');
});

import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { diarium } from './diarium.ts';

const entry = {
  date: '2025-06-09T19:03:39',
  heading: 'Norway',
  html: '<p>Sea &amp; rain</p>',
  rating: 4,
  tags: ['trip'],
};

test('reads the JSON export of Diarium and counts the files beside it', async () => {
  const files = sourceFiles({
    'Diarium_2025-06-09_2025-06-10.json': JSON.stringify([
      entry,
      { date: '2025-06-10T08:41:15.48828', html: '' },
      { html: '<p>x</p>' },
    ]),
    'media/2025-06-09_190339000/a.jpg': '',
    'media/2025-06-09_190339000/b.mp4': '',
    'media/2025-06-10_084115488/c.jpg': '',
  });
  expect(await detectProgram(files)).toBe('Diarium');
  const { entries, skipped } = await readFiles(diarium, files, 'Asia/Tokyo');
  expect(entries).toMatchObject([
    {
      day: '2025-06-09',
      time: '19:03:39',
      title: 'Norway',
      body: { format: 'html', text: '<p>Sea &amp; rain</p>' },
      pictures: 2,
    },
    { day: '2025-06-10', time: '08:41:15', title: null, pictures: 1 },
  ]);
  expect(skipped).toMatchObject([{ source: 'Diarium_2025-06-09_2025-06-10.json, entry 3', reason: 'noDate' }]);
});

test('reads a file per day', async () => {
  const files = sourceFiles({
    'a.json': JSON.stringify([entry]),
    'b.json': JSON.stringify({ ...entry, date: '2025-06-11T00:00:00' }),
  });
  expect((await readFiles(diarium, files)).entries.map(({ day }) => day)).toEqual(['2025-06-09', '2025-06-11']);
});

test('reads the text export of Diarium in the language of the device', async () => {
  const files = sourceFiles({
    'Diarium/Diarium_2021-10-28.txt': 'štvrtok 28. októbra 2021\n— 29. 10. 2021 22:01 —\nanother day\n\nand more',
    'Diarium/Diarium_2021-10-29.txt': 'Friday, October 29, 2021\nRan at 5 — 10 — 15',
    'Diarium/Diarium_2021-10-30.txt': 'Saturday, October 30, 2021\n',
    'Diarium/Diarium_2021-02-30.txt': 'x',
  });
  expect(await detectProgram(files)).toBe('Diarium');
  const { entries, skipped } = await readFiles(diarium, files);
  expect(entries).toMatchObject([
    { day: '2021-10-28', time: null, body: { format: 'text', text: 'another day\n\nand more' } },
    { day: '2021-10-29', body: { text: 'Ran at 5 — 10 — 15' } },
  ]);
  expect(skipped.map(({ reason }) => reason)).toEqual(['empty', 'invalidDate']);
});

test('reads the HTML export of Diarium, a folder per day', async () => {
  const files = sourceFiles({
    '2017-07-26/entry.html':
      '<html><body><p class="Header">A <b>trip</b></p><p class="Content">First &amp; last</p><p class="Content">Second</p><p class="TagsLocation">Ort: 1, 2</p></body></html>',
    '2017-07-26/photo.jpg': '',
  });
  expect(await detectProgram(files)).toBe('Diarium');
  expect((await readFiles(diarium, files)).entries).toMatchObject([
    {
      day: '2017-07-26',
      title: 'A trip',
      body: { format: 'html', text: '<p>First &amp; last</p><p>Second</p>' },
      pictures: 1,
    },
  ]);
});

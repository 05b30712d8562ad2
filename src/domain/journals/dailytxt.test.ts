import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { dailyTxt } from './dailytxt.ts';

const read = (contents: Record<string, string>) => readFiles(dailyTxt, sourceFiles(contents));
const month = (...days: unknown[]): string => JSON.stringify({ days });

test('reads months of DailyTxT and names encrypted days', async () => {
  const { entries, skipped } = await read({
    'data/2024/2.json': month(
      { day: 29, text: 'Tom &amp; I\n**ran**', date_written: '29.02.2024, 21:10', files: [{}, {}], tags: [1] },
      { day: 30, text: 'no such day' },
      { text: 'no day' },
      { day: 3, text: 'gAAAAABlWk3yKq2Zr0m1vL8tqW6n4c9dX7sHb2_fGh-5jT==' },
      { day: 4, text: '' },
    ),
  });
  expect(entries).toMatchObject([
    { day: '2024-02-29', time: null, title: null, body: { format: 'markdown', text: 'Tom & I\n**ran**' }, pictures: 2 },
  ]);
  expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
    'data/2024/2.json, day 30: invalidDate',
    'data/2024/2.json, day undefined: noDate',
    'data/2024/2.json, day 3: encrypted',
    'data/2024/2.json, day 4: empty',
  ]);
});

const block = (date: string, inner: string): string =>
  `    <div class="entry">\n        <div class="entry-date">${date}</div>\n        <div class="entry-content">\n${inner}\n        </div>\n    </div>\n`;
const page = (...blocks: string[]): string =>
  `<!DOCTYPE html><html><head><title>DailyTxT Export</title><style>.entry { color: red }</style></head><body><div class="header"><h1>Export</h1></div>${blocks.join('')}<script>f('</div>')</script></body></html>`;

test('reads the HTML export of DailyTxT without tags, files and pictures, and counts the last two', async () => {
  const html = page(
    block(
      'Sunday, 04/14/2024',
      '<div class="entry-text"><p>Ran <strong>far</strong><br>\nand <div>slept</div></p></div>\n<div class="entry-images"><div class="image-item"><img src="files/a.jpg"></div></div><div class="entry-tags"><span class="tag">#sport</span></div><div class="entry-files"><ul class="file-list"><li><a href="files/a.jpg">a.jpg</a></li><li>b.pdf</li></ul></div>',
    ),
    block('Friday, 05/03/2024', '<div class="entry-text"><p>Second</p></div>'),
    block('Someday', '<div class="entry-text"><p>Third</p></div>'),
    block('Saturday, 05/04/2024', ''),
  );
  expect(await detectProgram(sourceFiles({ 'DailyTxT_2024.html': html }))).toBe('DailyTxT');
  const { entries, skipped } = await read({
    'DailyTxT_2024.html': html,
    'files/2024-04-14/own.html': '<p>attached</p>',
  });
  expect(entries).toMatchObject([
    {
      day: '2024-04-14',
      pictures: 2,
      body: { format: 'html', text: '<p>Ran <strong>far</strong><br>\nand <div>slept</div></p>' },
    },
    { day: '2024-05-03', pictures: 0, body: { text: '<p>Second</p>' } },
  ]);
  expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
    'DailyTxT_2024.html, Someday: noDate',
    'DailyTxT_2024.html, Saturday, 05/04/2024: empty',
  ]);
});

test('dates of DailyTxT that can be read in two ways are refused', async () => {
  const html = page(block('03/04/2024', '<div class="entry-text"><p>x</p></div>'));
  expect((await read({ 'DailyTxT_export.html': html })).skipped).toMatchObject([{ reason: 'ambiguousDate' }]);
});

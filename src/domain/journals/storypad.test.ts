import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { storyPad } from './storypad.ts';

const date = { type: 'docs', year: 2024, month: 2, day: 29, hour: 9, minute: 5, second: 7 };
const backup = (...stories: unknown[]): string => JSON.stringify({ tables: { stories, tags: [] }, meta_data: {} });
const read = (contents: Record<string, string>) => readFiles(storyPad, sourceFiles(contents));

test('reads the pages of a story', async () => {
  const body = [
    { insert: 'Plan', attributes: { bold: true } },
    { insert: ' for ' },
    { insert: 'a < b', attributes: { link: 'https://x.test/?a="b"&c' } },
    { insert: '\n', attributes: { header: 2 } },
    { insert: 'Call' },
    { insert: '\n', attributes: { list: 'unchecked' } },
    { insert: 'Ship' },
    { insert: '\n', attributes: { list: 'checked' } },
    { insert: 'deep' },
    { insert: '\n', attributes: { list: 'bullet', indent: 1 } },
    { insert: 'one\ntwo' },
    { insert: '\n', attributes: { list: 'ordered' } },
    { insert: { image: 'images/1.jpg' } },
    { insert: 'f()' },
    { insert: '\n', attributes: { 'code-block': true } },
    { insert: 'said' },
    { insert: '\n', attributes: { blockquote: true } },
    { insert: 'end' },
  ];
  const latest_content = {
    title: 'Day',
    rich_pages: [
      { title: 'Day', body },
      { title: 'Later', body: [{ insert: 'x\n' }] },
    ],
  };
  const { entries } = await read({ 'b.json': backup({ ...date, latest_content, assets: [1, 2] }) });
  expect(entries).toEqual([
    {
      kind: 'entry',
      day: '2024-02-29',
      time: '09:05:07',
      title: 'Day',
      body: {
        format: 'html',
        text:
          '<h2><strong>Plan</strong> for <a href="https://x.test/?a=&quot;b&quot;&amp;c">a &lt; b</a></h2>' +
          '<ul><li>[ ] Call</li><li>[x] Ship<ul><li>deep</li></ul></li></ul><p>one</p><ol><li>two</li></ol>' +
          '<pre>f()</pre><blockquote><p>said</p></blockquote><p>end</p><p><strong>Later</strong></p><p>x</p>',
      },
      source: 'b.json, story 1',
      pictures: 2,
    },
  ]);
});

test('reads old stories and stories with nothing but plain text', async () => {
  const { entries } = await read({
    'b.json': backup(
      { ...date, latest_content: { pages: [[{ insert: 'One\n' }], [{ insert: 'Two\n' }]] } },
      { ...date, hour: null, latest_content: { plain_text: 'Only\nwords' } },
      { ...date, changes: [{ pages: [[{ insert: 'first\n' }]] }, { pages: [[{ insert: 'last\n' }]] }] },
    ),
  });
  expect(entries).toMatchObject([
    { body: { format: 'html', text: '<p>One</p><p>Two</p>' } },
    { time: null, body: { format: 'text', text: 'Only\nwords' } },
    { body: { text: '<p>last</p>' } },
  ]);
});

test('names stories in the bin, deleted ones and those without a date', async () => {
  const latest_content = { plain_text: 'x' };
  const { entries, skipped } = await read({
    'b.json': backup(
      { ...date, type: 'bins', latest_content },
      { ...date, permanently_deleted_at: '2024-03-01T00:00:00Z' },
      { ...date, month: 13, latest_content },
      { type: 'docs', latest_content },
      { ...date },
      { ...date, type: 'archives', latest_content },
    ),
  });
  expect(entries).toHaveLength(1);
  expect(skipped.map(({ reason }) => reason)).toEqual(['trashed', 'trashed', 'invalidDate', 'noDate', 'empty']);
});

test('reads the text export of StoryPad', async () => {
  const text =
    'StoryPad ID: 1735537709471\nTitle: Good day\nDate: 2024-12-20 14:30:45\nTags: a, b\n\nFirst line\n![](images/1.jpg)\n\n# not a title\n\n###\n\nStoryPad ID: 1715024221522\nDate: 2024-12-25 09:15:30\nFeeling: beaming\n\nSecond\n\n###\n\nstill the second\n';
  const files = { 'StoryPad.txt': text };
  expect(await detectProgram(sourceFiles(files))).toBe('StoryPad');
  const { entries, skipped } = await read(files);
  expect(skipped).toEqual([]);
  expect(entries).toMatchObject([
    {
      day: '2024-12-20',
      time: '14:30:45',
      title: 'Good day',
      body: { text: 'First line\n\n\n# not a title' },
      pictures: 1,
    },
    {
      day: '2024-12-25',
      time: '09:15:30',
      title: null,
      body: { text: 'Second\n\n###\n\nstill the second' },
      pictures: 0,
    },
  ]);
});

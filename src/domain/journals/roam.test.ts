import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { roam } from './roam.ts';

const page = (title: string, ...children: unknown[]) => ({ title, 'create-time': 1714540000000, children });

test('reads the pages of days as outlines, and names the other pages', async () => {
  const text = JSON.stringify([
    page(
      'May 1st, 2024',
      {
        string: '{{[[TODO]]}} write to [[Ann]]',
        uid: 'aaaaaaaaa',
        children: [{ string: '**bold** ^^marked^^ __slanted__ #[[big tag]]', uid: 'bbbbbbbbb' }],
      },
      { string: '{{[[DONE]]}} as in ((bbbbbbbbb)) and ((unknown-1))', uid: 'ccccccccc' },
      { string: '```sh\nls\n  -l```', uid: 'fffffffff' },
      { string: 'two\nlines ![](https://a.example/x.png)', uid: 'ddddddddd' },
    ),
    page('Ideas', { string: 'x', uid: 'eeeeeeeee' }),
    page('May 2nd, 2024'),
    page('February 30th, 2024', { string: 'x' }),
  ]);
  const files = sourceFiles({ 'backup.json': text });
  expect(await detectProgram(files)).toBe('Roam Research');
  const { entries, skipped } = await readFiles(roam, files);
  expect(entries).toMatchObject([
    {
      day: '2024-05-01',
      title: null,
      pictures: 1,
      body: {
        text: [
          '- [ ] write to Ann',
          '  - **bold** marked *slanted* #big tag',
          '- [x] as in **bold** marked *slanted* #big tag and ((unknown-1))',
          '- ```sh',
          '  ls',
          '    -l',
          '  ```',
          '- two',
          '  lines',
        ].join('\n'),
      },
    },
  ]);
  expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
    ['backup.json, Ideas', 'noDate'],
    ['backup.json, May 2nd, 2024', 'empty'],
    ['backup.json, February 30th, 2024', 'invalidDate'],
  ]);
});

test('leaves other lists alone', async () => {
  for (const text of ['[]', '[{"title":"a"}]', '[{"children":[]}]', '{"children":[],"title":"a"}'])
    expect(await detectProgram(sourceFiles({ 'a.json': text }))).toBeNull();
});

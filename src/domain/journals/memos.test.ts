import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { memos } from './memos.ts';

const read = (value: unknown, zone = 'UTC') =>
  readFiles(memos, sourceFiles({ 'memos.json': JSON.stringify(value) }), zone);

const current = (fields: object = {}) => ({
  name: 'memos/abc',
  state: 'NORMAL',
  creator: 'users/1',
  createTime: '2024-05-02T01:30:00Z',
  updateTime: '2024-06-01T00:00:00Z',
  content: 'Shipped **it** #work',
  visibility: 'PRIVATE',
  tags: ['work'],
  attachments: [],
  ...fields,
});
const old = (fields: object = {}) => ({
  id: 7,
  rowStatus: 'NORMAL',
  creatorId: 1,
  createdTs: 1_714_613_400,
  content: 'Old',
  resourceList: [],
  ...fields,
});

describe('the JSON of memos', () => {
  test('is recognised in old and new versions', async () => {
    for (const value of [{ memos: [current()], nextPageToken: '' }, [old()], { data: [old()] }])
      expect(await detectProgram(sourceFiles({ 'a.json': JSON.stringify(value) }))).toBe('memos');
    expect(await detectProgram(sourceFiles({ 'a.json': '{"memos":[]}' }))).not.toBe('memos');
  });

  test('gives each memo its day in the user’s zone', async () => {
    for (const value of [{ memos: [current()] }, [[current()]], { data: [old()] }, [{ memos: [old()] }], current()]) {
      expect((await read(value, 'America/Los_Angeles')).entries).toMatchObject([
        { day: '2024-05-01', time: '18:30:00' },
      ]);
      expect((await read(value, 'Pacific/Kiritimati')).entries).toMatchObject([
        { day: '2024-05-02', time: '15:30:00' },
      ]);
    }
    const moved = current({ displayTime: '2020-01-01T12:00:00Z' });
    expect((await read([moved])).entries[0]!.day).toBe('2020-01-01');
  });

  test('leaves pictures, attachments and references out', async () => {
    const content = 'See [[memos/xyz]] ![a](/file/a.png)\n![[resources/1]]end';
    expect((await read([current({ content, attachments: [{}, {}] })])).entries).toMatchObject([
      { body: { format: 'markdown', text: 'See\nend' }, pictures: 3 },
    ]);
  });

  test('names deleted, undated, empty and broken memos', async () => {
    const list = [
      current({ state: 'DELETED' }),
      current({ createTime: undefined }),
      current({ createTime: 'soon' }),
      current({ content: ' ' }),
      null,
    ];
    expect((await read(list)).skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['memos.json, memo 1', 'trashed'],
      ['memos.json, memo 2', 'noDate'],
      ['memos.json, memo 3', 'invalidDate'],
      ['memos.json, memo 4', 'empty'],
      ['memos.json, memo 5', 'broken'],
    ]);
    expect((await readFiles(memos, sourceFiles({ 'memos.json': '{"memos":[' }))).skipped).toMatchObject([
      { reason: 'broken' },
    ]);
  });

  test('gives back the text of any memos', async () => {
    const content = fc.stringMatching(/^[\p{L}\d #.,-]{1,30}$/u).map((text) => `x${text}`.trim());
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 5 }), async (contents) => {
        const { entries } = await read({ memos: contents.map((text) => current({ content: text })) });
        expect(entries.map(({ body }) => body.text)).toEqual(contents);
      }),
    );
  });
});

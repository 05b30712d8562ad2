/** Google Keep, Simplenote and Standard Notes: programs for notes, whose instants have no zone. */
import { describe, expect, test } from 'vitest';
import { readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { googleKeep } from './google-keep.ts';
import type { JournalReader } from './journal-reader.ts';
import { simplenote } from './simplenote.ts';
import { standardNotes } from './standard-notes.ts';

const read = (reader: JournalReader, contents: Record<string, unknown>, zone?: string) =>
  readFiles(
    reader,
    sourceFiles(Object.fromEntries(Object.entries(contents).map(([path, value]) => [path, JSON.stringify(value)]))),
    zone,
  );
const keepNote = (fields: object) => ({
  isTrashed: false,
  title: '',
  textContent: '',
  createdTimestampUsec: 1_690_372_692_755_000,
  ...fields,
});
const note = (fields: object) => ({ id: '1', content: 'x', creationDate: '2023-07-26T23:58:12.755Z', ...fields });
const item = (content: unknown, fields: object = {}) => ({
  uuid: '1',
  content_type: 'Note',
  content,
  created_at: '2023-07-26T23:58:12.755Z',
  updated_at: '2024-01-01T00:00:00.000Z',
  ...fields,
});
const backup = (...items: unknown[]) => ({ 'Standard Notes Backup and Import File.txt': { version: '004', items } });

describe('the day of a note', () => {
  test.each([
    ['Pacific/Kiritimati', '2023-07-27', '13:58:12'],
    ['America/Los_Angeles', '2023-07-26', '16:58:12'],
  ])('is the one of its creation in the user’s zone: %s', async (zone, day, time) => {
    const keep = keepNote({ textContent: 'x', createdTimestampUsec: Date.parse('2023-07-26T23:58:12Z') * 1000 });
    for (const { entries } of [
      await read(googleKeep, { 'a.json': keep }, zone),
      await read(simplenote, { 'notes.json': { activeNotes: [note({})] } }, zone),
      await read(standardNotes, backup(item({ title: 'T', text: 'x' })), zone),
    ])
      expect(entries).toMatchObject([{ day, time }]);
  });

  test.each(['2021-03-04', 'Thursday, March 4, 2021', '4. März 2021', '# 2021/03/04'])(
    'is the one of its title if that is nothing but a date: %s',
    async (title) => {
      const plain = title.replace('# ', '');
      for (const { entries } of [
        await read(googleKeep, { 'a.json': keepNote({ title: plain, textContent: 'x' }) }),
        await read(simplenote, { 'notes.json': { activeNotes: [note({ content: `${title}\n\nx` })] } }),
        await read(standardNotes, backup(item({ title: plain, text: 'x' }))),
      ])
        expect(entries).toMatchObject([{ day: '2021-03-04', time: null, title: null, body: { text: 'x' } }]);
    },
  );

  test.each(['03/04/2021', 'Trip 2021-03-04', '2021'])('is not the one of a title like %s', async (title) => {
    const { entries } = await read(googleKeep, { 'a.json': keepNote({ title, textContent: 'x' }) });
    expect(entries).toMatchObject([{ day: '2023-07-26', title }]);
  });
});

describe('Google Keep', () => {
  test('names notes without a date or text, also if they lack most fields', async () => {
    const { skipped } = await read(googleKeep, {
      'Takeout/Keep/a.json': { textContent: 'no times', title: 'x' },
      'Takeout/Keep/b.json': { textContent: '', createdTimestampUsec: 1_690_372_692_755_000 },
      'Takeout/Keep/Settings.json': { layout: 'grid' },
    });
    expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['Takeout/Keep/a.json', 'noDate'],
      ['Takeout/Keep/b.json', 'empty'],
    ]);
  });

  test('keeps open and done items apart and counts attachments', async () => {
    const listContent = [
      { text: 'Call <Ana>', isChecked: false },
      { text: 'Ship', isChecked: true },
    ];
    const { entries } = await read(googleKeep, {
      'a.json': keepNote({ title: 'Plan\nof today', listContent, attachments: [{ mimetype: 'image/png' }] }),
    });
    expect(entries).toMatchObject([
      {
        title: 'Plan of today',
        pictures: 1,
        body: { format: 'html', text: '<ul><li>[ ] Call &lt;Ana&gt;</li><li>[x] Ship</li></ul>' },
      },
    ]);
  });

  test('keeps bold words of a text and of a list', async () => {
    const bold = (words: string): string =>
      `<p dir="ltr"><span style="font-weight:700;font-style:normal;">${words}</span></p>`;
    const plain = '<p dir="ltr"><span style="font-weight:400;font-style:normal;text-decoration:none;">x</span></p>';
    const { entries } = await read(googleKeep, {
      'a.json': keepNote({ textContent: 'x', textContentHtml: bold('x') }),
      'b.json': keepNote({ textContent: 'x', textContentHtml: plain }),
      'c.json': keepNote({ listContent: [{ text: 'x', textHtml: bold('x'), isChecked: true }] }),
    });
    expect(entries.map(({ body }) => body)).toEqual([
      { format: 'html', text: bold('x') },
      { format: 'text', text: 'x' },
      { format: 'html', text: '<ul><li>[x] <span style="font-weight:700;font-style:normal;">x</span></li></ul>' },
    ]);
  });

  test('keeps saved links that the text does not have', async () => {
    const annotations = [
      { source: 'WEBLINK', title: 'A & B', url: 'https://a.test/' },
      { source: 'WEBLINK', title: 'Seen', url: 'https://seen.test/' },
      { source: 'SHEETS' },
    ];
    const { entries } = await read(googleKeep, {
      'a.json': keepNote({ textContent: 'See https://seen.test/', annotations }),
      'b.json': keepNote({ annotations }),
      'c.json': keepNote({ listContent: [{ text: 'x', isChecked: false }], annotations }),
    });
    expect(entries.map(({ body }) => body.text)).toEqual([
      'See https://seen.test/\nA & B: https://a.test/',
      'A & B: https://a.test/\nSeen: https://seen.test/',
      '<ul><li>[ ] x</li></ul><p>A &amp; B: https://a.test/</p><p>Seen: https://seen.test/</p>',
    ]);
  });

  test('names notes in the trash, empty ones and those without a date, and no settings', async () => {
    const { entries, skipped } = await read(googleKeep, {
      'a.json': keepNote({ isTrashed: true, textContent: 'x' }),
      'b.json': keepNote({}),
      'c.json': keepNote({ textContent: 'x', createdTimestampUsec: 0 }),
      'd.json': keepNote({ textContent: 'x', createdTimestampUsec: 0, userEditedTimestampUsec: 1_690_372_692_755_000 }),
      'Labels.json': { labels: [] },
    });
    expect(entries.map(({ source }) => source)).toEqual(['d.json']);
    expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
      'a.json: trashed',
      'b.json: empty',
      'c.json: noDate',
    ]);
  });
});

describe('Simplenote', () => {
  test('reads Markdown notes as such and leaves links to other notes out', async () => {
    const { entries } = await read(simplenote, {
      'notes.json': {
        activeNotes: [
          note({
            content: 'Title\r\nsee [the *plan*](simplenote://note/abc) and [web](https://x.test)',
            markdown: true,
          }),
          note({ content: '2 * 3 * 4' }),
        ],
      },
    });
    expect(entries).toMatchObject([
      { title: null, body: { format: 'markdown', text: 'Title\nsee the *plan* and [web](https://x.test)' } },
      { body: { format: 'text', text: '2 * 3 * 4' } },
    ]);
  });

  test('names notes in the trash and without a date', async () => {
    const { skipped } = await read(simplenote, {
      'notes.json': {
        activeNotes: [note({ creationDate: undefined }), note({ content: ' ' })],
        trashedNotes: [note({ content: 'Old\nx' })],
      },
    });
    expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
      'notes.json, note 1: noDate',
      'notes.json, note 2: empty',
      'notes.json, Old: trashed',
    ]);
  });
});

describe('Standard Notes', () => {
  test('reads Super notes', async () => {
    const text = (words: string, format = 0) => ({ type: 'text', text: words, format });
    const root = {
      type: 'root',
      children: [
        { type: 'heading', tag: 'h2', children: [text('Plan')] },
        {
          type: 'paragraph',
          children: [
            text('a & b', 1),
            { type: 'linebreak' },
            { type: 'link', url: 'https://x.test', children: [text('web', 2)] },
          ],
        },
        {
          type: 'list',
          listType: 'check',
          children: [
            { type: 'listitem', checked: false, children: [text('open')] },
            { type: 'listitem', checked: true, children: [text('done')] },
          ],
        },
        { type: 'list', listType: 'number', start: 3, children: [{ type: 'listitem', children: [text('three')] }] },
        {
          type: 'code',
          children: [text('x'), { type: 'linebreak' }, { type: 'tab' }, { type: 'code-highlight', text: 'y' }],
        },
        { type: 'snfile', fileUuid: '1' },
        { type: 'mystery', children: [{ type: 'paragraph', children: [text('kept')] }] },
      ],
    };
    const { entries } = await read(
      standardNotes,
      backup(item({ title: 'T', text: JSON.stringify({ root }), noteType: 'super' })),
    );
    expect(entries).toMatchObject([
      {
        title: 'T',
        pictures: 1,
        body: {
          format: 'html',
          text:
            '<h2>Plan</h2><p><strong>a &amp; b</strong><br><a href="https://x.test"><em>web</em></a></p>' +
            '<ul><li>[ ] open</li><li>[x] done</li></ul><ol start="3"><li>three</li></ol><pre>x<br>\ty</pre><p>kept</p>',
        },
      },
    ]);
  });

  test('a state that nests 100,000 levels deep ends no reader', async () => {
    const depth = 100_000;
    const text = `{"root":${'{"children":['.repeat(depth)}{"type":"text","text":"x"}${']}'.repeat(depth)}}`;
    const { entries, skipped } = await read(standardNotes, backup(item({ title: 'T', text, noteType: 'super' })));
    expect(entries.length + skipped.length).toBe(1);
  });

  test.each([
    ['plain-text', '*a*', 'text'],
    ['code', 'a = 1', 'text'],
    ['markdown', '*a*', 'markdown'],
    [undefined, '*a*', 'markdown'],
    ['rich-text', '<p>a</p>', 'html'],
    ['task', '- [ ] a', 'markdown'],
  ])('a note of type %s', async (noteType, text, format) => {
    const { entries } = await read(standardNotes, backup(item({ title: 'T', text, noteType })));
    expect(entries).toMatchObject([{ body: { format, text } }]);
  });

  test('reads a Super note with a line separator in a word', async () => {
    const text = JSON.stringify({
      root: { children: [{ type: 'paragraph', children: [{ type: 'text', text: 'a\u2028b' }] }] },
    });
    const { entries } = await read(standardNotes, backup(item({ title: 'T', text, noteType: 'super' })));
    expect(entries).toMatchObject([{ body: { format: 'html', text: '<p>a<br>b</p>' } }]);
  });

  test('reads an advanced check list', async () => {
    const text = JSON.stringify({
      schemaVersion: '1.0.0',
      groups: [{ name: 'Work', tasks: [{ description: 'Call', completed: true }] }],
    });
    const { entries } = await read(standardNotes, backup(item({ title: 'T', text, noteType: 'task' })));
    expect(entries).toMatchObject([{ body: { text: '<p>Work</p><ul><li>[x] Call</li></ul>' } }]);
  });

  test('stored passwords never become a log', async () => {
    const text = '[{"service":"bank","account":"me","secret":"JBSWY3DPEHPK3PXP"}]';
    const { entries, skipped } = await read(
      standardNotes,
      backup(item({ title: 'Tokens', text, noteType: 'authentication' })),
    );
    expect(entries).toEqual([]);
    expect(skipped).toMatchObject([{ reason: 'notText' }]);
  });

  test('names encrypted notes, notes in the trash and those without a date, and no other items', async () => {
    const { entries, skipped } = await read(
      standardNotes,
      backup(
        item('004:abc:def'),
        item({ title: 'Old', text: 'x', trashed: true }),
        item({ title: '', text: '' }),
        item({ title: 'T', text: 'x' }, { created_at: '1970-01-01T00:00:00.000Z' }),
        item({ title: 'T', text: 'x' }, { created_at: undefined, updated_at: undefined }),
        item({ title: 'Gone', text: 'x' }, { deleted: true }),
        { content_type: 'Tag', content: { title: 'work' } },
      ),
    );
    expect(entries).toMatchObject([{ day: '2024-01-01' }]);
    expect(skipped.map(({ source, reason }) => `${source.split(', ').slice(1).join(', ')}: ${reason}`)).toEqual([
      'item 1: encrypted',
      'item 2, Old: trashed',
      'item 3: empty',
      'item 5, T: noDate',
    ]);
  });
});

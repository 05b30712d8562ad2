import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { joplin } from './joplin.ts';

const ID = '0123456789abcdef0123456789abcdef';
const FIELDS = {
  id: ID,
  parent_id: 'f'.repeat(32),
  created_time: '2024-05-02T01:30:00.000Z',
  is_conflict: 0,
  author: '',
  is_todo: 0,
  todo_completed: 0,
  user_created_time: '2024-05-02T01:30:00.000Z',
  encryption_cipher_text: '',
  encryption_applied: 0,
  markup_language: 1,
  deleted_time: 0,
  ['type_']: 1,
};

const raw = (title: string, body: string, fields: Record<string, string | number> = {}): string =>
  `${title}\n\n${body}\n\n${Object.entries({ ...FIELDS, ...fields })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}`;

/** A tar archive as Joplin packs it. */
function tar(files: Record<string, string>): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const [name, content] of Object.entries(files)) {
    const bytes = new TextEncoder().encode(content);
    const header = new Uint8Array(512);
    const put = (text: string, at: number): void => header.set(new TextEncoder().encode(text), at);
    put(name, 0);
    put('000644 \0', 100);
    put(`${bytes.length.toString(8).padStart(11, '0')} `, 124);
    put('        ', 148);
    put('0', 156);
    put('ustar\0', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const data = new Uint8Array(Math.ceil(bytes.length / 512) * 512);
    data.set(bytes);
    blocks.push(header, data);
  }
  blocks.push(new Uint8Array(1024));
  return new Uint8Array(blocks.flatMap((block) => [...block]));
}

const readRaw = (text: string, zone = 'UTC') => readFiles(joplin, sourceFiles({ [`RAW/${ID}.md`]: text }), zone);

describe('the exports of Joplin', () => {
  test('are recognised as an archive, a RAW folder and Markdown with its front matter', async () => {
    expect(await detectProgram(sourceFiles({ 'notes.jex': tar({ [`${ID}.md`]: raw('a', 'b') }) }))).toBe('Joplin');
    expect(await detectProgram(sourceFiles({ [`RAW/${ID}.md`]: raw('a', 'b') }))).toBe('Joplin');
    const markdown =
      '---\ntitle: One\nupdated: 2024-05-02 01:30:00Z\ncreated: 2024-05-02 01:30:00Z\nlatitude: 0.0\n---\n\nText';
    expect(await detectProgram(sourceFiles({ 'Work/One.md': markdown }))).toBe('Joplin');
    expect(await detectProgram(sourceFiles({ 'Work/One.md': '# One' }))).not.toBe('Joplin');
  });

  test('put a note on the day of its creation in the user’s zone', async () => {
    const [west, east] = await Promise.all([
      readRaw(raw('A', 'b'), 'America/Los_Angeles'),
      readRaw(raw('A', 'b'), 'Pacific/Kiritimati'),
    ]);
    expect(west.entries).toMatchObject([{ day: '2024-05-01', time: '18:30:00', title: 'A' }]);
    expect(east.entries).toMatchObject([{ day: '2024-05-02', time: '15:30:00', title: 'A' }]);
    const markdown =
      '---\ntitle: 2024-04-30\nupdated: 2024-05-02 01:30:00Z\ncreated: 2024-05-02 01:30:00Z\n---\n\nText';
    const { entries } = await readFiles(joplin, sourceFiles({ 'Journal/2024-04-30.md': markdown }), 'UTC');
    expect(entries).toMatchObject([{ day: '2024-04-30', title: null, body: { text: 'Text' } }]);
  });

  test('resolve links to notes, leave pictures out and count them', async () => {
    const body = `See [the plan](:/${ID}) and [the web](https://e.org).\n\n![shot.png](:/${ID})\n\n<img src=":/${ID}" width="3"/>\n\n- ![](:/${ID})\n- last`;
    const { entries } = await readRaw(raw('A', body));
    expect(entries).toMatchObject([
      { pictures: 3, body: { format: 'markdown', text: 'See the plan and [the web](https://e.org).\n\n\n\n- last' } },
    ]);
  });

  test('show a task as a check box, and HTML as HTML', async () => {
    expect((await readRaw(raw('Call', 'x', { is_todo: 1 }))).entries[0]!.title).toBe('[ ] Call');
    expect((await readRaw(raw('Call', 'x', { is_todo: 1, todo_completed: 1714608000000 }))).entries[0]!.title).toBe(
      '[x] Call',
    );
    const { entries } = await readRaw(raw('Clip', '<p>Hi</p>', { markup_language: 2 }));
    expect(entries[0]!.body).toEqual({ format: 'html', text: '<p>Hi</p>' });
  });

  test('say what is in the trash, encrypted or cut off, and pass over notebooks', async () => {
    const reasons = async (text: string) => (await readRaw(text)).skipped.map(({ reason }) => reason);
    expect(await reasons(raw('A', 'b', { deleted_time: 1714608000000 }))).toEqual(['trashed']);
    expect(await reasons(raw('A', 'b', { encryption_applied: 1 }))).toEqual(['encrypted']);
    expect(await reasons(raw('A', 'b').replace('type_: 1', ''))).toEqual(['broken']);
    expect(await readRaw(raw('Notebook', '', { ['type_']: 2 }))).toEqual({ entries: [], skipped: [] });
  });

  test('in an archive are read note by note, and a cut archive is reported', async () => {
    const archive = tar({
      [`${ID}.md`]: raw('One', 'Text'),
      [`resources/${ID}.png`]: 'PNG',
      [`${'b'.repeat(32)}.md`]: raw('Two', ''),
    });
    const { entries } = await readFiles(joplin, sourceFiles({ 'notes.jex': archive }));
    expect(entries.map(({ title, source }) => [title, source])).toEqual([
      ['One', `notes.jex/${ID}.md (One)`],
      ['Two', `notes.jex/${'b'.repeat(32)}.md (Two)`],
    ]);
    const cut = await readFiles(joplin, sourceFiles({ 'notes.jex': archive.slice(0, 700), 'other.jex': 'text' }));
    expect(cut.skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['notes.jex', 'broken'],
      ['other.jex', 'broken'],
    ]);
  });

  test('give back any title and text of any note', async () => {
    const line = fc.stringMatching(/^[\p{L}\d:;,. _-]{0,20}$/u).map((text) => `x${text}`.trimEnd());
    await fc.assert(
      fc.asyncProperty(line, fc.array(line, { minLength: 1, maxLength: 6 }), async (title, lines) => {
        const { entries } = await readRaw(raw(title, lines.join('\n')));
        expect(entries.map(({ body }) => body.text)).toEqual([lines.join('\n')]);
      }),
    );
  });
});

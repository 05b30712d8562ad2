import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { evernote } from './evernote.ts';

type Note = { title?: string; created?: string; content?: string; extra?: string };

const note = ({
  title = 'A note',
  created = '20230120T204520Z',
  content = '<div>Text</div>',
  extra = '',
}: Note): string =>
  `<note><title>${title}</title><created>${created}</created><note-attributes><author>A</author></note-attributes>${extra}
  <content><![CDATA[<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note style="x">${content}</en-note>]]></content></note>`;

const enex = (...notes: string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
<en-export export-date="20230220T204656Z" application="Evernote" version="10.51.7">${notes.join('\n')}</en-export>`;

const read = (text: string, zone = 'UTC') => readFiles(evernote, sourceFiles({ 'Journal.enex': text }), zone);
const htmlOf = async (content: string, extra = ''): Promise<string> =>
  (await read(enex(note({ content, extra })))).entries[0]!.body.text;

describe('the ENEX export of Evernote', () => {
  test('is recognised by its content', async () => {
    expect(await detectProgram(sourceFiles({ 'Journal.enex': enex() }))).toBe('Evernote');
    expect(await detectProgram(sourceFiles({ 'Journal.xml': enex() }))).toBe('Evernote');
    expect(await detectProgram(sourceFiles({ 'Journal.enex': '<other/>' }))).not.toBe('Evernote');
  });

  test('puts a note on the day of its creation in the user’s zone', async () => {
    const days = async (zone: string) => (await read(enex(note({ created: '20230121T033000Z' })), zone)).entries[0];
    expect(await days('America/Los_Angeles')).toMatchObject({ day: '2023-01-20', time: '19:30:00', title: 'A note' });
    expect(await days('Pacific/Kiritimati')).toMatchObject({ day: '2023-01-21', time: '17:30:00' });
  });

  test('puts a note whose title is a date on that day', async () => {
    const { entries } = await read(
      enex(note({ title: 'Saturday, May 4, 2024' }), note({ title: 'Plans for May 4, 2024' })),
    );
    expect(entries.map(({ day, title }) => [day, title])).toEqual([
      ['2024-05-04', null],
      ['2023-01-20', 'Plans for May 4, 2024'],
    ]);
  });

  test('keeps open and done check boxes apart in every form', async () => {
    expect(await htmlOf('<div><en-todo checked="true"/>Done</div><div><en-todo/>Open</div>')).toBe(
      '<div>[x] Done</div><div>[ ] Open</div>',
    );
    const items = '<li style="--en-checked:false;"><div>Open</div></li><li style="--en-checked:true;">Done</li>';
    expect(await htmlOf(`<ul style="--en-todo:true;">${items}</ul>`)).toContain(
      '<li><div>[ ] Open</div></li><li>[x] Done</li>',
    );
    const task = (title: string, status: string) =>
      `<task><title>${title}</title><taskStatus>${status}</taskStatus><taskGroupNoteLevelID>g1</taskGroupNoteLevelID></task>`;
    const group = '<div style="--en-task-group:true;--en-id:g1;"></div><div>After</div>';
    expect(await htmlOf(group, task('Call &amp; ask', 'open') + task('Ship', 'completed'))).toBe(
      '<ul><li>[ ] Call &amp; ask</li><li>[x] Ship</li></ul><div>After</div>',
    );
  });

  test('leaves attachments out and counts them, however large', async () => {
    const resource = `<resource><data encoding="base64">${'QUJD\n'.repeat(100_000)}</data><mime>image/png</mime></resource>`;
    const { entries } = await read(
      enex(note({ content: '<div>See <en-media type="image/png" hash="a"/></div>', extra: resource.repeat(2) })),
    );
    expect(entries).toMatchObject([{ pictures: 2, body: { format: 'html', text: '<div>See </div>' } }]);
  });

  test('says that a part is encrypted, and keeps the rest', async () => {
    const { entries, skipped } = await read(
      enex(note({ content: '<div>Open</div><en-crypt hint="x">c2VjcmV0</en-crypt>' })),
    );
    expect(entries[0]!.body.text).toBe('<div>Open</div>');
    expect(skipped).toEqual([{ kind: 'skipped', source: 'Journal.enex, note 1 (A note)', reason: 'encrypted' }]);
    const whole = enex(note({}).replace('<content>', '<content encoding="base64:aes">'));
    expect(await read(whole)).toMatchObject({ entries: [], skipped: [{ reason: 'encrypted' }] });
  });

  test('turns code blocks and empty XHTML elements into HTML', async () => {
    expect(await htmlOf('<div style="-en-codeblock:true;"><div>a &lt; b</div><div>  c</div></div><div/><br/>')).toBe(
      '<pre><code>a &lt; b\n  c</code></pre><div></div><br/>',
    );
  });

  test('keeps empty lines of code, and drops links to other notes and a title that Evernote made up', async () => {
    expect(await htmlOf('<div style="--en-codeblock:true;"><div>a</div><div><br /></div><div>b</div></div>')).toBe(
      '<pre><code>a\n\nb</code></pre>',
    );
    expect(
      await htmlOf(
        '<div><a href="evernote:///view/1/s4/2/3/" rev="en_rl_none">Plan</a> <a href="https://e.org">web</a></div>',
      ),
    ).toBe('<div>Plan <a href="https://e.org">web</a></div>');
    expect((await read(enex(note({ title: 'Untitled Note' })))).entries[0]!.title).toBeNull();
  });

  test('reads the notes before the place where a file is cut off', async () => {
    const whole = enex(note({ title: 'One' }), note({ title: 'Two' }));
    const { entries, skipped } = await read(whole.slice(0, whole.lastIndexOf('</note>')));
    expect(entries.map(({ title }) => title)).toEqual(['One']);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'Journal.enex, note 2', reason: 'broken' }]);
  });

  test('names notes without a date or with an impossible one', async () => {
    const { entries, skipped } = await read(enex(note({ created: '' }), note({ created: '20230230T000000Z' })));
    expect(entries).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual(['noDate', 'invalidDate']);
  });

  test('takes linear time for a comment full of sections that are not closed', async () => {
    const title = `One<!--${'<![CDATA['.repeat(50_000)}-->`;
    const readNote = async () => expect((await read(enex(note({ title })))).entries).toHaveLength(1);
    expect(await measureCpuMs(readNote)).toBeLessThan(2_000);
  });

  test.each([
    ['boxes before tags that are not closed', '[ ] <div'.repeat(50_000)],
    ['code with tags in a tag', `<div style="-en-codeblock:true">${'<div'.repeat(100_000)} ></div></div>`],
  ])('takes linear time for %s', async (_name, content) => {
    const readNote = async () => expect((await read(enex(note({ content })))).entries).toHaveLength(1);
    expect(await measureCpuMs(readNote)).toBeLessThan(2_000);
  });

  test('reads any title and text', async () => {
    const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const word = fc.stringMatching(/^[\p{L}\d<>&"' .]{1,20}$/u).map((text) => `x${text.replace(/\s+/g, ' ').trim()}`);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ title: word, content: word.map((text) => `y${text}`) }), { minLength: 1, maxLength: 5 }),
        async (notes) => {
          const text = enex(
            ...notes.map(({ title, content }) => note({ title: xml(title), content: `<div>${xml(content)}</div>` })),
          );
          const { entries, skipped } = await read(text);
          expect(skipped).toEqual([]);
          expect(entries.map(({ title, body }) => [title, body.text])).toEqual(
            notes.map(({ title, content }) => [title, `<div>${xml(content)}</div>`]),
          );
        },
      ),
    );
  });
});

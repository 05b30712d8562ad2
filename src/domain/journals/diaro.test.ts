import { expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { diaro } from './diaro.ts';

const backup = (entries: string, attachments = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<data version="2">\n<table name="diaro_folders">\n<r><uid>f</uid><title>Not an entry</title></r>\n</table>\n` +
  `<table name="diaro_attachments">${attachments}</table>\n<table name="diaro_templates"><r><uid>t</uid><title>T</title><text>Template</text></r></table>\n` +
  `<table name="diaro_entries">\n${entries}\n</table>\n</data>\n`;
const read = (xml: string, zone?: string) => readFiles(diaro, sourceFiles({ 'x/DiaroBackup.xml': xml }), zone);

test('reads rows of Diaro by their own offset and counts their attachments', async () => {
  const { entries, skipped } = await read(
    backup(
      `<r><uid>a</uid><date>1388534400000</date><tz_offset>-05:00</tz_offset><title>R&amp;D</title><text>1 &lt; 2&#10;next</text><tags>,1,</tags></r>
       <r><uid>b</uid><date>1388534400000</date><tz_offset></tz_offset><title/><text><![CDATA[a <b> & ]] c]]></text></r>`,
      '<r><uid>1</uid><entry_uid>a</entry_uid><type>photo</type></r><r><uid>2</uid><entry_uid>a</entry_uid></r>',
    ),
    'Asia/Tokyo',
  );
  expect(skipped).toEqual([]);
  expect(entries).toMatchObject([
    { day: '2013-12-31', time: '19:00:00', title: 'R&D', body: { format: 'text', text: '1 < 2\nnext' }, pictures: 2 },
    { day: '2014-01-01', time: '09:00:00', title: null, body: { text: 'a <b> & ]] c' }, pictures: 0 },
  ]);
});

test('names damaged and encrypted backups of Diaro, and rows without a date', async () => {
  const whole = backup('<r><uid>a</uid><text>x</text></r><r><uid>b</uid><date>soon</date><text>y</text></r>');
  expect((await read(whole)).skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
    'x/DiaroBackup.xml, entry 1: noDate',
    'x/DiaroBackup.xml, entry 2: invalidDate',
  ]);
  expect((await read(whole.slice(0, -20))).skipped).toContainEqual({
    kind: 'skipped',
    source: 'x/DiaroBackup.xml',
    reason: 'broken',
  });
  const files = sourceFiles({ 'DiaroBackup.denc': 'abc' });
  expect(await detectProgram(files)).toBe('Diaro');
  expect((await readFiles(diaro, files)).skipped).toEqual([
    { kind: 'skipped', source: 'DiaroBackup.denc', reason: 'encrypted' },
  ]);
});

test('an entry of Diaro of 5 MB is read whole', async () => {
  const text = 'word '.repeat(1_000_000);
  const { entries } = await read(backup(`<r><uid>a</uid><date>1388534400000</date><text>${text}</text></r>`));
  expect(entries[0]!.body.text).toBe(text);
});

test.each([
  ['many CDATA sections', `<text>${'<![CDATA[x]]>'.repeat(25)}`],
  ['many sections that are not closed', '<text><![CDATA[x'.repeat(20_000)],
])('reads a backup of Diaro that is cut within %s in linear time', async (_name, text) => {
  const whole = '<r><uid>a</uid><date>1388534400000</date><text>kept</text></r>';
  const cut = backup('X').split('X')[0]! + whole + `<r><uid>b</uid><date>1388534400000</date>${text}`;
  const readCut = async () => {
    const { entries, skipped } = await read(cut);
    expect(entries.map(({ body }) => body.text)).toEqual(['kept']);
    expect(skipped.map(({ reason }) => reason)).toEqual(['broken']);
  };
  expect(await measureCpuMs(readCut)).toBeLessThan(2_000);
});

test('reads a comment full of sections that are not closed in linear time', async () => {
  const comment = `<!--${'<![CDATA['.repeat(50_000)}-->`;
  const entry = `<r><uid>a</uid><date>1388534400000</date><text>kept${comment}</text></r>`;
  const readEntry = async () => expect((await read(backup(entry))).entries).toHaveLength(1);
  expect(await measureCpuMs(readEntry)).toBeLessThan(2_000);
});

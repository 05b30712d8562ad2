import { describe, expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { dayOne } from './day-one.ts';

const read = (contents: Record<string, string>, zone?: string) => readFiles(dayOne, sourceFiles(contents), zone);
const journal = (...entries: unknown[]): string => JSON.stringify({ metadata: { version: '1.0' }, entries });
const inDublin = { creationDate: '2024-04-16T23:30:00Z', timeZone: 'Europe/Dublin' };

describe('the JSON export of Day One', () => {
  test.each([
    ['its zone in summer', inDublin, '2024-04-17', '00:30:00'],
    [
      'its zone in winter',
      { creationDate: '2024-01-16T23:30:00Z', timeZone: 'Europe/Dublin' },
      '2024-01-16',
      '23:30:00',
    ],
    ['an offset as its zone', { creationDate: '2024-04-16T23:30:00Z', timeZone: 'GMT+0530' }, '2024-04-17', '05:00:00'],
    ['a negative offset', { creationDate: '2024-04-16T02:30:00Z', timeZone: 'GMT-5' }, '2024-04-15', '21:30:00'],
    [
      'the zone of its place',
      { creationDate: '2024-04-16T23:30:00Z', location: { timeZoneName: 'Asia/Tokyo' } },
      '2024-04-17',
      '08:30:00',
    ],
    ['an offset in the date', { creationDate: '2019-01-01T00:00:00-08:00' }, '2019-01-01', '00:00:00'],
    [
      'an unknown zone: the user’s',
      { creationDate: '2024-04-16T23:30:00Z', timeZone: 'Mars/Olympus' },
      '2024-04-16',
      '19:30:00',
    ],
    ['no zone: the user’s', { creationDate: '2024-04-16T23:30:00Z' }, '2024-04-16', '19:30:00'],
  ])('takes the local day from %s', async (_, entry, day, time) => {
    const { entries } = await read({ 'Journal.json': journal({ ...entry, text: 'x' }) }, 'America/New_York');
    expect(entries).toMatchObject([{ day, time }]);
  });

  test('leaves out pictures, recordings and links to other entries, and counts the first two', async () => {
    const text =
      '# Trip\n\nSea\\.![](dayone-moment://0A) Then [the day before](dayone2://view?entryId=0B) and [a site](https://x.test)\\.\n\n![](dayone-moment:/video/0C)\n\n![](dayone-moment:/audio/0D)';
    const { entries } = await read({
      'Journal.json': journal({ ...inDublin, text, photos: [{ identifier: '0A' }], videos: [{}], audios: [{}] }),
    });
    expect(entries).toMatchObject([
      {
        title: null,
        pictures: 3,
        body: {
          format: 'markdown',
          text: '# Trip\n\nSea\\. Then the day before and [a site](https://x.test)\\.\n\n\n\n',
        },
      },
    ]);
  });

  test('an entry of pictures alone counts them, and an empty entry is reported', async () => {
    const moment = { ...inDublin, text: '![](dayone-moment://0A)', photos: [{}, {}] };
    const { entries, skipped } = await read({ 'Journal.json': journal(moment, { ...inDublin, text: ' ' }) });
    expect(entries).toMatchObject([{ pictures: 2, body: { text: '' } }]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'Journal.json, entry 2', reason: 'empty' }]);
  });

  test('reads rich text where an entry has no Markdown', async () => {
    const line = (text: string, style: unknown, marks = {}) => ({ text, attributes: { ...marks, line: style } });
    const contents = [
      line('Monday\n', { header: 1 }),
      { text: 'Met ' },
      { text: 'Ana & Bo', attributes: { bold: true } },
      { text: '\n' },
      line('Open\n', { listStyle: 'checkbox', indentLevel: 1, checked: false }),
      line('Done\n', { listStyle: 'checkbox', indentLevel: 1, checked: true }),
      line('Two\n', { listStyle: 'numbered', indentLevel: 1, listIndex: 2 }),
      line('deeper\n', { listStyle: 'bulleted', indentLevel: 2 }),
      line('let a;\n', { codeBlock: true }),
      line('let b;\n', { codeBlock: true }),
      { embeddedObjects: [{ type: 'photo', identifier: '0A' }] },
      { embeddedObjects: [{ type: 'horizontalRuleLine' }] },
      { embeddedObjects: [{ type: 'table', rows: [[{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }]] }] },
      line('Said\n', { quote: true, indentLevel: 1 }),
    ];
    const { entries } = await read({
      'Journal.json': journal({ ...inDublin, richText: JSON.stringify({ contents, meta: { version: 1 } }) }),
    });
    expect(entries).toMatchObject([
      {
        pictures: 1,
        body: {
          format: 'html',
          text:
            '<h1>Monday</h1><p>Met <strong>Ana &amp; Bo</strong></p><ul><li>[ ] Open</li><li>[x] Done</li></ul>' +
            '<ol start="2"><li>Two<ul><li>deeper</li></ul></li></ol><pre>let a;\nlet b;</pre><p>a · b</p>' +
            '<blockquote><p>Said</p></blockquote>',
        },
      },
    ]);
  });

  test('line ends of every kind are line ends', async () => {
    const text = 'one\u2028two\u2029three\u0085four\u000Bfive\rsix\uFFFC';
    const { entries } = await read({ 'Journal.json': journal({ ...inDublin, text }) });
    expect(entries).toMatchObject([{ body: { text: 'one\ntwo\nthree\nfour\nfive\nsix' } }]);
    const plain = await read({ 'Journal.txt': `\tDate:\t1 March 2024\r\r${text}` });
    expect(plain.entries).toMatchObject([{ body: { text: 'one\ntwo\nthree\nfour\nfive\nsix' } }]);
  });

  test('reads several journals of one export', async () => {
    const files = {
      'Work.json': journal({ ...inDublin, text: 'a' }),
      'Home.json': journal({ ...inDublin, text: 'b' }),
    };
    expect(await detectProgram(sourceFiles(files))).toBe('Day One');
    expect((await read(files)).entries.map(({ source }) => source)).toEqual([
      'Work.json, entry 1',
      'Home.json, entry 1',
    ]);
  });

  test.each([
    [
      'its fields in any order',
      {
        'a.json': `{"entries":[{"text":"${'x'.repeat(5000)}","creationDate":"2024-01-01T00:00:00Z"}],"metadata":{"version":"1.2"}}`,
        'photos/0a1b2c3d4e5f60718293a4b5c6d7e8f9.jpeg': '',
      },
    ],
    [
      'one entry with nothing but a date',
      { 'a.json': '{"metadata":{"version":"1.0"},"entries":[{"creationDate":"2024-01-01T00:00:00Z"}]}' },
    ],
  ])('is recognised with %s', async (_, files) => {
    expect(await detectProgram(sourceFiles(files))).toBe('Day One');
  });

  test('names entries without a date, dates that do not exist and damaged files', async () => {
    const { skipped } = await read({
      'a.json': journal({ text: 'x' }, { creationDate: '2023-02-29T10:00:00Z', text: 'x' }, null),
      'b.json': '{"entries":[',
      'c.json': '{"metadata":{}}',
    });
    expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
      'a.json, entry 1: noDate',
      'a.json, entry 2: invalidDate',
      'a.json, entry 3: noDate',
      'b.json: broken',
      'c.json: broken',
    ]);
  });

  test('a long run of brackets takes linear time', async () => {
    const text = '['.repeat(300_000) + '![['.repeat(100_000);
    const readLong = async () => {
      const { entries } = await read({ 'Journal.json': journal({ ...inDublin, text }) });
      expect(entries[0]!.body.text).toBe(text);
    };
    expect(await measureCpuMs(readLong)).toBeLessThan(2_000);
  });
});

describe('Day One Classic', () => {
  const id = '0A1B2C3D4E5F60718293A4B5C6D7E8F9';
  const entry = `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0">
<dict>
	<key>Creation Date</key>
	<date>2014-10-23T05:36:33Z</date>
	<key>Entry Text</key>
	<string>Tea &amp; toast &lt;3

- one</string>
	<key>Location</key>
	<dict>
		<key>Time Zone</key>
		<string>Asia/Tokyo</string>
	</dict>
	<key>Tags</key>
	<array>
		<string>quote</string>
	</array>
	<key>Time Zone</key>
	<string>US/Pacific</string>
	<key>UUID</key>
	<string>${id}</string>
</dict>
</plist>`;

  test('reads property lists and counts the photos beside them', async () => {
    const { entries, skipped } = await read({
      'Journal.dayone/entries/a.doentry': entry,
      [`Journal.dayone/photos/${id}.jpg`]: '',
      'Journal.dayone/entries/b.doentry': 'no list',
    });
    expect(entries).toEqual([
      {
        kind: 'entry',
        day: '2014-10-22',
        time: '22:36:33',
        title: null,
        body: { format: 'markdown', text: 'Tea & toast <3\n\n- one' },
        source: 'Journal.dayone/entries/a.doentry',
        pictures: 1,
      },
    ]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'Journal.dayone/entries/b.doentry', reason: 'broken' }]);
  });
});

describe('the text export of Day One', () => {
  test.each([
    ['Date', '15 January 2024', '2024-01-15', null],
    ['Date', 'January 15, 2024 at 9:05:00\u202FPM PST', '2024-01-15', '21:05:00'],
    ['Datum', '15. Januar 2024 um 21:05:00 MEZ', '2024-01-15', '21:05:00'],
    ['Date\u00A0', '15 janvier 2024 à 21:05:00 UTC+1', '2024-01-15', '21:05:00'],
    ['Fecha', '15 de enero de 2024, 21:05:00 CET', '2024-01-15', '21:05:00'],
  ])('reads the line %s: %s', async (label, date, day, time) => {
    const text = `\t${label}:\t${date}\n\tWeather:\t2°C\n\tPhoto:\t1.jpg\n\nFirst\n\n\tindented stays\n\n\n\t${label}:\t${date}\n\nSecond\n`;
    const files = { 'Journal.txt': text };
    expect(await detectProgram(sourceFiles(files))).toBe('Day One');
    const { entries, skipped } = await read(files);
    expect(skipped).toEqual([]);
    expect(entries).toMatchObject([
      { day, time, pictures: 1, body: { text: 'First\n\n\tindented stays' } },
      { day, time, pictures: 0, body: { text: 'Second' } },
    ]);
  });

  test('leaves out details that stand below an empty line', async () => {
    const { entries, skipped } = await read({
      'a.txt':
        '\tDate:\t4 April 2023\n\n\tWeather:\tRain, 54°F\n\n\tDate:\t5 April 2023\n\n\tWeather:\tSun\n\nWalk\n\n\tNote:\tmine\n',
    });
    expect(entries).toMatchObject([{ day: '2023-04-05', body: { text: 'Walk\n\n\tNote:\tmine' } }]);
    expect(skipped).toMatchObject([{ source: 'a.txt, line 1', reason: 'empty' }]);
  });

  test('reports text above the first date and dates that do not exist', async () => {
    const { entries, skipped } = await read({
      'a.txt': 'Notes\n\n\tDate:\t30 February 2024\n\nx\n\n\tDate:\t1 March 2024\n\ny',
    });
    expect(entries).toMatchObject([{ day: '2024-03-01' }]);
    expect(skipped).toEqual([
      { kind: 'skipped', source: 'a.txt, before the first date', reason: 'noDate' },
      { kind: 'skipped', source: 'a.txt, line 3', reason: 'invalidDate' },
    ]);
  });
});

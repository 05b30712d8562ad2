/** Reads chosen files and zips as the worker does. */
import { describe, expect, test } from 'vitest';
import { BlobWriter, TextReader, Uint8ArrayReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js';
import { IMPORT_PROBLEMS } from '#domain/journals/export-guides.ts';
import { PROGRAMS, type Written } from '../../../../../tests/support/journal-programs.ts';
import { MAX_CHOSEN_BYTES, MAX_FILES, type ChosenFile } from './open-files.ts';
import { readJournal, type ReadMessage } from './read-journal.ts';

const fileOf = (path: string, ...parts: BlobPart[]): ChosenFile => ({
  path,
  file: new File(parts, path.replace(/^.*\//, '')),
});
const jrnlOf = (...bodies: string[]): string =>
  JSON.stringify({
    tags: {},
    entries: bodies.map((body, index) => ({ title: '', body, date: `2024-01-0${index + 1}`, time: '08:00' })),
  });

type Members = Record<string, string | Uint8Array>;
async function zipOf(members: Members, password?: string): Promise<Blob> {
  const zip = new ZipWriter(new BlobWriter(), { useWebWorkers: false, ...(password && { password, zipCrypto: true }) });
  for (const [path, content] of Object.entries(members))
    await zip.add(path, typeof content === 'string' ? new TextReader(content) : new Uint8ArrayReader(content));
  return zip.close();
}
const bytesOf = async (blob: Blob): Promise<Uint8Array> => new Uint8Array(await blob.arrayBuffer());

async function read(...chosen: ChosenFile[]) {
  const messages: ReadMessage[] = [];
  await readJournal({ chosen, zone: 'UTC' }, (message) => messages.push(message));
  const batches = messages.filter((message) => message.kind === 'batch');
  const refused = messages.find((message) => message.kind === 'refused');
  return {
    program: messages.findLast((message) => message.kind === 'program')?.program,
    entries: batches.flatMap(({ entries }) => entries),
    skipped: batches.flatMap(({ skipped }) => skipped),
    batches: batches.length,
    refused: refused?.text,
    isDone: messages.at(-1)?.kind === 'done',
  };
}
const refusalOf = async (...chosen: ChosenFile[]): Promise<string | undefined> => (await read(...chosen)).refused;

describe('the chosen files', () => {
  test('are converted to logs', async () => {
    const { program, entries, isDone } = await read(
      fileOf('journal.json', jrnlOf('**Big** day\n- a\n- b', 'x\u0007y')),
    );
    expect([program, isDone]).toEqual(['jrnl', true]);
    expect(entries.map(({ day, html }) => [day, html])).toEqual([
      ['2024-01-01', '<p><strong>Big</strong> day</p><ul><li><p>a</p></li><li><p>b</p></li></ul>'],
      ['2024-01-02', '<p>xy</p>'],
    ]);
  });

  test('are read from a zip, with names of several zips apart', async () => {
    const zip = await zipOf({
      'export/journal.json': jrnlOf('in a zip'),
      'photos/a.jpg': new Uint8Array(2_000),
      'b.jpg': new Uint8Array(2_000),
    });
    const { entries, skipped } = await read(fileOf('Journal.zip', zip));
    expect(entries.map(({ html, source }) => [html, source])).toEqual([
      ['<p>in a zip</p>', 'export/journal.json, entry 1'],
    ]);
    expect(skipped).toEqual([]);
  });

  test('are read from zips in a zip, one level deep', async () => {
    const inner = await bytesOf(await zipOf({ 'journal.json': jrnlOf('inner') }));
    const { entries } = await read(fileOf('Export.zip', await zipOf({ 'Part-1.zip': inner })));
    expect(entries.map(({ source }) => source)).toEqual(['Part-1/journal.json, entry 1']);
    const deeper = await bytesOf(await zipOf({ 'Part-1.zip': inner }));
    expect(await refusalOf(fileOf('Export.zip', await zipOf({ 'outer.zip': deeper })))).toBeDefined();
  });

  test('are read from a zip whatever it calls its members', async () => {
    const names = [
      '/storage/emulated/0/2024-01-01.md',
      './2024-01-02.md',
      '../2024-01-03.md',
      'C:\\Diary\\2024-01-04.md',
    ];
    const zip = await zipOf(
      Object.fromEntries([['./', ''], ['C:\\Diary\\', ''], ...names.map((name) => [name, 'kept'])]),
    );
    const { entries, skipped } = await read(fileOf('Journal.zip', zip));
    expect(entries.map(({ source }) => source)).toEqual([
      'storage/emulated/0/2024-01-01.md',
      '2024-01-02.md',
      '2024-01-03.md',
      'C:/Diary/2024-01-04.md',
    ]);
    expect(skipped).toEqual([]);
  });

  test('are read from backups of Bear and text packs, which are zips by another name', async () => {
    const info = JSON.stringify({ 'net.shinyfrog.bear': { creationDate: '2024-05-01T10:00:00Z' } });
    const backup = await zipOf({ 'Note.textbundle/text.md': '# Note\nin a backup', 'Note.textbundle/info.json': info });
    const pack = await zipOf({ 'text.md': '# 2024-05-02\nin a pack', 'info.json': '{"version":2}' });
    for (const chosen of [
      [fileOf('a.bear2bk', backup), fileOf('b.textpack', pack)],
      [fileOf('a.zip', await zipOf({ 'a.bear2bk': await bytesOf(backup), 'b.textpack': await bytesOf(pack) }))],
    ]) {
      const { entries } = await read(...chosen);
      expect(entries.map(({ day, html }) => [day, html])).toEqual([
        ['2024-05-01', '<h1>Note</h1><p>in a backup</p>'],
        ['2024-05-02', '<p>in a pack</p>'],
      ]);
    }
  });

  test('are read from each of a hundred zips in a zip', async () => {
    const parts = await Promise.all(
      Array.from({ length: 100 }, async (_, at) => [
        `${at}.zip`,
        await bytesOf(await zipOf({ 'journal.json': jrnlOf(`part ${at}`) })),
      ]),
    );
    const { entries } = await read(fileOf('all.zip', await zipOf(Object.fromEntries(parts))));
    expect(entries).toHaveLength(100);
  });

  test('may be zips of several programs, and those of no program are named', async () => {
    const keep = await zipOf({
      'Takeout/Keep/a.json': JSON.stringify({
        textContent: 'kept',
        title: '',
        isTrashed: false,
        isArchived: false,
        userEditedTimestampUsec: 1_704_182_400_000_000,
        createdTimestampUsec: 1_704_182_400_000_000,
      }),
    });
    const { program, entries, skipped } = await read(
      fileOf('jrnl.zip', await zipOf({ 'journal.json': jrnlOf('written') })),
      fileOf('keep.zip', keep),
      fileOf('photos.zip', await zipOf({ 'a.jpg': new Uint8Array(100) })),
    );
    expect(program).toBe('jrnl and Google Keep');
    expect(entries.map(({ html, source }) => [html, source])).toEqual([
      ['<p>written</p>', 'jrnl/journal.json, entry 1'],
      ['<p>kept</p>', 'keep/Takeout/Keep/a.json'],
    ]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'photos.zip', reason: 'unknown' }]);
  });

  test('are named after Obsidian if they are its vault', async () => {
    const note = fileOf('vault/2024-05-01.md', 'Shipped');
    expect((await read(note, fileOf('vault/.obsidian/app.json', '{}'))).program).toBe('Obsidian');
    expect((await read(note)).program).toBe('Markdown or text files');
  });

  test('arrive in small batches', async () => {
    const entries = Array.from({ length: 40 }, () => ({ title: '', body: 'x'.repeat(50_000), date: '2024-01-01' }));
    const { batches, entries: all } = await read(fileOf('journal.json', JSON.stringify({ tags: {}, entries })));
    expect(all).toHaveLength(40);
    expect(batches).toBeGreaterThan(5);
  });
});

/** An entry of its own month for each program, so that none takes another one's day. */
const exported = Object.entries(PROGRAMS).map(([name, { reader, write }], index) => {
  const day = new Date(Date.UTC(2020, index, 2)).toISOString().slice(0, 10);
  const entry: Written = { day, time: '12:00:00', zone: 'UTC', title: `Title ${index}`, text: `Text ${index}` };
  return { name, reader, day, files: write([entry]) };
});
/** The names of programs that the preview shows for these files. */
const programsOf = (...chosen: (typeof exported)[number][]): Set<string> =>
  new Set(
    chosen.map(({ reader }) => {
      const own = chosen.filter((other) => other.reader === reader);
      return reader.programOf?.(chosenOf(...own.map(({ files }) => files))) ?? reader.program;
    }),
  );
const pairs = exported.flatMap((first, index) => exported.slice(index + 1).map((second) => ({ first, second })));
const chosenOf = (...folders: Record<string, string>[]): ChosenFile[] =>
  folders.flatMap((files, index) =>
    Object.entries(files).map(([path, text]) => fileOf(folders.length > 1 ? `${index}/${path}` : path, text)),
  );

describe('files of several programs', () => {
  test.each(exported)('$name goes to its reader whatever lies beside it', async ({ name, day }) => {
    for (const { first, second } of pairs.filter((pair) => pair.first.name === name)) {
      const forward = await read(...chosenOf(first.files, second.files));
      const backward = await read(...chosenOf(second.files, first.files));
      for (const found of [forward, backward]) {
        const about = `${first.name} and ${second.name}`;
        expect(found.refused, about).toBeUndefined();
        expect(found.entries.map((entry) => entry.day).toSorted(), about).toEqual([day, second.day].toSorted());
        expect(found.skipped, about).toEqual([]);
        expect(new Set(found.program?.split(' and ')), about).toEqual(programsOf(first, second));
      }
    }
  });

  test.each(exported)('$name leaves no file beside it without a word', async ({ day, files }) => {
    const strange = { 'table.csv': 'a,b', 'diary.pdf': '%PDF-1.7', 'other.json': '{"a":1}', 'cat.png': 'x' };
    for (const chosen of [
      { ...strange, ...files },
      { ...files, ...strange },
    ]) {
      const { entries, skipped } = await read(...chosenOf(chosen));
      expect(entries.map((entry) => entry.day)).toEqual([day]);
      expect(skipped.map(({ source, reason }) => `${source}: ${reason}`).toSorted()).toEqual(
        ['cat.png', 'diary.pdf', 'other.json', 'table.csv'].map((path) => `${path}: unknown`),
      );
    }
  });

  test('say why nobody read them', async () => {
    const strange = { 'a.json': '{"a":1}', 'cut.json': '{"entries":[{"te', 'Ideas.md': 'Not today.', 'none.md': '' };
    const { skipped } = await read(
      ...chosenOf({ 'Notes.enex': exported.find(({ name }) => name === 'Evernote')!.files['Notes.enex']!, ...strange }),
    );
    expect(skipped.map(({ source, reason }) => `${source}: ${reason}`).toSorted()).toEqual([
      'Ideas.md: noDate',
      'a.json: unknown',
      'cut.json: broken',
      'none.md: empty',
    ]);
  });

  test('are named in one line, also those in zips of a zip', async () => {
    const [dayOne, keep, vault] = ['Day One, JSON', 'Google Keep', 'Markdown by day'].map(
      (name) => exported.find((one) => one.name === name)!.files,
    );
    const inner = await bytesOf(await zipOf(keep!));
    const outer = await zipOf({ 'a.zip': await bytesOf(await zipOf(dayOne!)), 'b.zip': inner });
    const { program, entries } = await read(fileOf('outer.zip', outer), ...chosenOf(vault!));
    expect(entries).toHaveLength(3);
    expect(program).toBe('Markdown or text files, Day One, and Google Keep');
  });
});

describe('a refusal names the reason for', () => {
  test.each([
    ['an empty file', fileOf('x.txt', ''), 'This file is empty.'],
    ['a text without dates', fileOf('x.md', 'Dear diary'), 'We found text, but no dates.'],
    ['damaged JSON', fileOf('broken.json', '{"entries":'), 'This file is damaged'],
    ['JSON of another kind', fileOf('x.json', '{"a":1}'), 'We don’t know this file.'],
    ['a picture', fileOf('cat.png', Uint8Array.of(0x89, 0x50, 0, 1)), 'This is a picture or a recording.'],
    ['text that begins with a bracket', fileOf('x.txt', '[sic] Dear diary'), 'We found text, but no dates.'],
    ['a backup of Daylio', fileOf('a.daylio', 'x'), 'In Daylio, export your entries as CSV'],
    ['another table', fileOf('a.csv', 'Name,Hours\nAnn,3'), 'Save it as CSV with a column named Date'],
    ['a PDF', fileOf('diary.pdf', '%PDF-1.7'), 'A PDF holds pages'],
    ['a document', fileOf('diary.docx', 'PK'), 'word processor'],
    ['a backup of Day One', fileOf('a/x.dayone2', 'x'), 'In Day One, export your journals as JSON'],
    ['an HTML export of ours', fileOf('x.html', '<!doctype html><title>Hustle Forge: all logs</title>'), 'HTML export'],
    ['a binary file', fileOf('data', Uint8Array.of(1, 0, 2, 0, 0, 7)), 'This is not a text file.'],
    ['a damaged zip', fileOf('x.zip', 'not a zip at all'), IMPORT_PROBLEMS.brokenZip],
    ['hidden files alone', fileOf('a/.DS_Store', 'x'), IMPORT_PROBLEMS.noFiles],
  ])('%s', async (_case, file, text) => {
    expect(await refusalOf(file)).toContain(text);
  });

  test('that are damaged or protected are named beside a good one', async () => {
    const good = fileOf('good.zip', await zipOf({ 'journal.json': jrnlOf('kept') }));
    const secret = fileOf('secret.zip', await zipOf({ 'journal.json': jrnlOf('x') }, 'pass'));
    const { entries, skipped, isDone } = await read(fileOf('bad.zip', 'not a zip at all'), good, secret);
    expect(isDone).toBe(true);
    expect(entries.map(({ html }) => html)).toEqual(['<p>kept</p>']);
    expect(skipped).toEqual([
      { kind: 'skipped', source: 'bad.zip', reason: 'broken' },
      { kind: 'skipped', source: 'secret.zip', reason: 'encrypted' },
    ]);
    expect(await refusalOf(fileOf('bad.zip', 'no zip'), fileOf('worse.zip', 'none'))).toBe(
      `bad.zip ${IMPORT_PROBLEMS.brokenZip}`,
    );
  });

  test('that are members of a zip are named, and the rest is imported', async () => {
    const zip = new ZipWriter(new BlobWriter(), { useWebWorkers: false });
    const locked = { password: 'pass', zipCrypto: true };
    const inner = async (password?: string) =>
      new Uint8ArrayReader(await bytesOf(await zipOf({ '2024-01-09.md': 'inner' }, password)));
    await zip.add('2024-01-01.md', new TextReader('open'));
    await zip.add('2024-01-02.md', new TextReader('secret'), locked);
    await zip.add('photos/a.jpg', new TextReader('secret'), locked);
    await zip.add('good.zip', await inner());
    await zip.add('secret.zip', await inner('pass'));
    await zip.add('cut.zip', new TextReader('not a zip'));
    await zip.add('locked.zip', await inner(), locked);
    const { entries, skipped, isDone } = await read(fileOf('Export.zip', await zip.close()));
    expect(isDone).toBe(true);
    expect(entries.map(({ html }) => html)).toEqual(['<p>open</p>', '<p>inner</p>']);
    expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['2024-01-02.md', 'encrypted'],
      ['locked.zip', 'encrypted'],
      ['secret.zip', 'encrypted'],
      ['cut.zip', 'broken'],
    ]);
  });

  test('a cut zip, and one with a password', async () => {
    const zip = await bytesOf(await zipOf({ 'journal.json': jrnlOf('x'.repeat(5_000)) }));
    expect(await refusalOf(fileOf('cut.zip', zip.slice(0, zip.length - 40) as BlobPart))).toContain(
      IMPORT_PROBLEMS.brokenZip,
    );
    const secret = await zipOf({ 'journal.json': jrnlOf('x') }, 'secret');
    expect(await refusalOf(fileOf('secret.zip', secret))).toContain(IMPORT_PROBLEMS.encryptedZip);
  });

  test('several files that nobody knows', async () => {
    expect(await refusalOf(fileOf('a.xyz', 'a'), fileOf('b.xyz', 'b'))).toContain('We don’t know these files.');
    expect(await refusalOf(fileOf('a.png', 'a'), fileOf('b.png', 'b'))).toContain('These are pictures or recordings.');
    expect(await refusalOf(fileOf('a.md', ''), fileOf('b.md', ''))).toContain('These files are empty.');
  });

  test('a file of 2 GB, and more files than the limit, without reading them', async () => {
    const huge = { path: 'huge.json', file: { size: MAX_CHOSEN_BYTES } as File };
    expect(await refusalOf(huge)).toBe(`huge.json ${IMPORT_PROBLEMS.tooLarge}`);
    const many = Array.from({ length: MAX_FILES + 1 }, (_, index) => fileOf(`${index}.md`, 'x'));
    expect(await refusalOf(...many)).toBe(IMPORT_PROBLEMS.tooManyFiles);
  });

  test('a zip bomb, before it is unpacked', async () => {
    const bomb = await zipOf({ 'journal.json': `{"tags":{},"entries":[${' '.repeat(64 * 1024 ** 2)}]}` });
    expect(bomb.size).toBeLessThan(100_000);
    expect(await refusalOf(fileOf('bomb.zip', bomb))).toBe(`bomb.zip ${IMPORT_PROBLEMS.zipRatio}`);
  });

  test('a member with another checksum than its zip says', async () => {
    const zip = await zipOf({ '2024-01-01.md': 'damaged', '2024-01-02.md': 'whole' });
    const bytes = await bytesOf(zip);
    const central = bytes.findIndex((_, at) => new DataView(bytes.buffer).getUint32(at, true) === 0x02_01_4b_50);
    bytes[central + 16]! ^= 1;
    const { entries, skipped } = await read(fileOf('damaged.zip', bytes as BlobPart));
    expect(entries.map(({ source }) => source)).toEqual(['2024-01-02.md']);
    expect(skipped).toEqual([{ kind: 'skipped', source: '2024-01-01.md', reason: 'broken' }]);
  });

  test('a zip whose member unpacks to more than its directory says', async () => {
    const bytes = await bytesOf(await zipOf({ 'journal.json': jrnlOf('x'.repeat(3_000_000)) }));
    const view = new DataView(bytes.buffer);
    for (let at = 0; at < bytes.length - 4; at += 1) {
      // The uncompressed sizes in the local header and in the central directory.
      if (view.getUint32(at, true) === 0x04_03_4b_50) view.setUint32(at + 22, 100, true);
      if (view.getUint32(at, true) === 0x02_01_4b_50) view.setUint32(at + 24, 100, true);
    }
    expect(await refusalOf(fileOf('lies.zip', bytes as BlobPart))).toBe(`lies.zip ${IMPORT_PROBLEMS.brokenZip}`);
  });
});

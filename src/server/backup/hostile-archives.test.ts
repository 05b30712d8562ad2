/** A restore refuses archives that somebody has built: in words, before or without a change of the database. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { zstdCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { setUpBackups, withClient } from '../../../tests/support/commands/backups.ts';
import { BackupError, dataEntryName, RowHash, type Header, type Manifest } from './archive-format.ts';
import { runRestore } from './restore-command.ts';
import { readArchive } from './read-archive.ts';
import { TAR_END, tarEntry, type TarEntry } from './write-archive.ts';

const world = setUpBackups();

/** An archive's parts. `write` makes a manifest that fits them, unless `manifest` is set. */
type Parts = { header: Header; entries: TarEntry[]; manifest?: unknown };
let original: string;
beforeAll(async () => {
  const file = await world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: world.folder });
  const parts: Parts = { header: {} as Header, entries: [] };
  for await (const entry of readArchive({ file, identities: null })) {
    if (entry.kind === 'header') parts.header = JSON.parse(entry.data.toString()) as Header;
    else if (entry.kind === 'data')
      parts.entries.push({ name: dataEntryName(entry.table, entry.number), data: entry.data });
  }
  original = JSON.stringify({
    ...parts,
    entries: parts.entries.map(({ name, data }) => ({ name, data: data.toString('base64') })),
  });
});

function readParts(): Parts {
  const { header, entries } = JSON.parse(original) as { header: Header; entries: { name: string; data: string }[] };
  return { header, entries: entries.map(({ name, data }) => ({ name, data: Buffer.from(data, 'base64') })) };
}

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const tarOf = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat(entries.flatMap((entry) => tarEntry(entry, new Date(0))));
const json = (name: string, content: unknown): TarEntry => ({ name, data: Buffer.from(JSON.stringify(content)) });

function manifestOf({ header, entries }: Parts): Manifest {
  const hashes = new Map<string, RowHash>();
  const manifest: Manifest = { header: sha256(json('', header).data), files: {}, tables: {} };
  for (const { name, data } of entries) {
    const [, kind, id] = /^(data|files)\/([^/]+)/.exec(name) ?? [];
    if (kind === 'files') manifest.files[id!] = sha256(data);
    else if (kind === 'data') {
      if (!hashes.has(id!)) hashes.set(id!, new RowHash());
      hashes.get(id!)!.update(data);
    }
  }
  for (const table of Array.isArray(header.tables) ? (header.tables as unknown[]) : []) {
    const name = String((table as Header['tables'][number] | null)?.name);
    manifest.tables[name] = (hashes.get(name) ?? new RowHash()).content();
  }
  return manifest;
}

async function write(parts: Parts, changeTar: (tar: Buffer) => Buffer = (tar) => tar): Promise<string> {
  const { header, entries, manifest = manifestOf(parts) } = parts;
  const file = world.newFile();
  const tar = tarOf([json('header.json', header), ...entries, json('manifest.json', manifest)]);
  await writeFile(file, zstdCompressSync(changeTar(Buffer.concat([tar, TAR_END]))));
  return file;
}

/** Returns the message. Fails unless the refusal is a BackupError and the database is as it was. */
async function refuse(file: string): Promise<string> {
  return world.withOrdinaryOwner(async (url) => {
    await withClient(url, (client) => client.query('create table mine (note text)'));
    const env = { DATABASE_URL: url, DATA_DIR: await world.newDataDir() };
    const failure: unknown = await runRestore([file, '--replace'], world.deps(env)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BackupError);
    const { rows } = await withClient(url, (client) =>
      client.query("select relname from pg_class where relname in ('mine', 'users', 'entries')"),
    );
    expect(rows).toEqual([{ relname: 'mine' }]);
    return (failure as Error).message;
  });
}

/** The same for a fault that shows before the database is opened. */
async function refuseUnopened(file: string): Promise<string> {
  const failure: unknown = await runRestore([file, '--check'], world.deps({})).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(BackupError);
  return (failure as Error).message;
}

test.each(['header', 'manifest'] as const)(
  'refuses a %s of more values than any has, before it is parsed',
  async (part) => {
    const parts = readParts();
    const more = { more: Array(200_000).fill(0) };
    if (part === 'header') parts.header = { ...parts.header, ...more };
    else parts.manifest = { ...manifestOf(parts), ...more };
    expect(await refuseUnopened(await write(parts))).toContain(part);
  },
);

test('the archive of these tests is restored when nobody changes it', async () => {
  const file = await write(readParts());
  await world.withOrdinaryOwner(async (url) => {
    await runRestore([file], world.deps({ DATABASE_URL: url, DATA_DIR: await world.newDataDir() }));
    const { rows } = await withClient(url, (client) => client.query('select from auth.users'));
    expect(rows.length).toBeGreaterThan(1);
  });
});

const anything = (value: unknown) => value as never;
const JUNK = [null, 1, 'text', [], {}, [null], [1], [[]], [{}], { length: 1 }];
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

describe('a header of other shapes', () => {
  test.each(['migrations', 'tables', 'sequences'] as const)('is refused: %s', async (field) => {
    for (const value of JUNK.filter((junk) => field !== 'sequences' || !isEmptyList(junk))) {
      const parts = readParts();
      parts.header[field] = anything(value);
      expect([value, await refuseUnopened(await write(parts))]).toEqual([value, expect.stringContaining('header')]);
    }
  });

  test.each<[what: string, change: (header: Header) => void]>([
    ['a version that is no whole number', (header) => (header.version = 0.5)],
    ['a version below the first', (header) => (header.version = 0)],
    ['a program that is no text', (header) => (header.program = anything({}))],
    ['no time', (header) => (header.createdAt = anything(null))],
    ['columns that are no texts', (header) => (header.tables[0]!.columns = anything([1]))],
    ['no columns', (header) => (header.tables[0]!.columns = [])],
    ['a column twice', (header) => header.tables[0]!.columns.push(header.tables[0]!.columns[0]!)],
    ['a table twice', (header) => header.tables.push({ ...header.tables[0]! })],
    ['a migration twice', (header) => header.migrations.push({ ...header.migrations[0]! })],
    ['a migration with a number of text', (header) => (header.migrations[0]!.number = anything('1'))],
    ['a sequence with a word as its value', (header) => (header.sequences[0]!.lastValue = '1); drop table mine; --')],
    ['a table of the system', (header) => header.tables.push({ name: 'pg_catalog.pg_authid', columns: ['rolname'] })],
    ['the ledger of migrations', (header) => header.tables.push({ name: 'migrations.applied', columns: ['set'] })],
  ])('is refused: %s', async (_what, change) => {
    const parts = readParts();
    change(parts.header);
    expect(await refuseUnopened(await write(parts))).toMatch(/header/);
  });

  test.each([null, [], 'text', { header: null }, { header: '', files: null, tables: {} }, { header: '', files: {} }])(
    'and a manifest of other shapes is refused: %j',
    async (manifest) => {
      expect(await refuseUnopened(await write({ ...readParts(), manifest }))).toMatch(/damaged|cut off/);
    },
  );
});

describe('rows and names that the database rejects', () => {
  const users = (parts: Parts) => parts.entries.find(({ name }) => name.startsWith('data/auth.users/'))!;
  test.each<[what: string, change: (parts: Parts) => void, fault: RegExp]>([
    [
      'a column that does not exist',
      ({ header }) => header.tables.find(({ name }) => name === 'auth.users')!.columns.splice(0, 1, 'nobody'),
      /auth\.users has other columns .*nobody/,
    ],
    [
      'SQL as a column',
      ({ header }) =>
        header.tables
          .find(({ name }) => name === 'auth.users')!
          .columns.splice(0, 1, 'id") from stdin; drop table mine; --'),
      /auth\.users has other columns/,
    ],
    [
      'a column less',
      ({ header }) => void header.tables.find(({ name }) => name === 'auth.users')!.columns.pop(),
      /auth\.users has other columns/,
    ],
    [
      'a table less',
      (parts) => {
        parts.header.tables = parts.header.tables.filter(({ name }) => name !== 'auth.users');
        parts.entries = parts.entries.filter((entry) => entry !== users(parts));
      },
      /lacks auth\.users/,
    ],
    ['words as rows', (parts) => (users(parts).data = Buffer.from('words\n')), /auth\.users/],
    [
      'a row twice',
      (parts) => (users(parts).data = Buffer.concat([users(parts).data, users(parts).data])),
      /auth\.users/,
    ],
    [
      "COPY's end before other rows",
      (parts) => (users(parts).data = Buffer.concat([Buffer.from('\\.\n'), users(parts).data])),
      /auth\.users/,
    ],
    [
      'logs of nobody',
      (parts) => (parts.entries = parts.entries.filter((entry) => entry !== users(parts))),
      /does not accept/,
    ],
    [
      'a sequence of a column that does not exist',
      ({ header }) => (header.sequences[0]!.column = 'nobody'),
      /does not accept/,
    ],
    [
      'a sequence of a column without one',
      ({ header }) => header.sequences.push({ table: 'auth.users', column: 'email', lastValue: '1', isCalled: true }),
      /sequence/,
    ],
    [
      'a sequence beyond its end',
      ({ header }) => (header.sequences[0]!.lastValue = '9999999999999999999'),
      /does not accept/,
    ],
    [
      'no migrations but the last',
      ({ header }) => header.migrations.splice(0, header.migrations.length - 1),
      /migration/,
    ],
    ['a migration at no time', ({ header }) => (header.migrations[0]!.appliedAt = 'never'), /migration/],
  ])('are refused: %s', async (_what, change, fault) => {
    const parts = readParts();
    change(parts);
    expect(await refuse(await write(parts))).toMatch(fault);
  });
});

describe('parts that no backup has', () => {
  const plain = (name: string, text = 'x\n'): TarEntry => ({ name, data: Buffer.from(text) });
  test.each<[what: string, change: (parts: Parts) => void, fault: RegExp]>([
    ['a path out of the folder', ({ entries }) => entries.unshift(plain('../../etc/passwd')), /unknown part/],
    ['an absolute path', ({ entries }) => entries.unshift(plain('/etc/passwd')), /unknown part/],
    ['a table named as a method', ({ entries }) => entries.unshift(plain(dataEntryName('constructor', 1))), /damaged/],
    [
      'a file twice',
      ({ entries }) => entries.unshift(plain('files/saml-key.pem'), plain('files/saml-key.pem')),
      /twice/,
    ],
    ['a second header', ({ header, entries }) => entries.unshift(json('header.json', header)), /header/],
    [
      'a part after the manifest',
      ({ entries }) => entries.push(json('manifest.json', {}), plain('files/a')),
      /damaged/,
    ],
    ['tables in another order', ({ entries }) => entries.reverse(), /order/],
    ['a part twice', ({ entries }) => entries.splice(1, 0, entries[0]!), /order/],
    [
      'a first part with another number',
      ({ entries }) => (entries[0]!.name = entries[0]!.name.replace('1.copy', '2.copy')),
      /order/,
    ],
  ])('are refused: %s', async (_what, change, fault) => {
    const parts = readParts();
    change(parts);
    expect(await refuseUnopened(await write(parts))).toMatch(fault);
  });

  test.each(['..', 'constructor'])('are refused: the file %s', async (name) => {
    const parts = readParts();
    parts.entries.unshift(plain(`files/${name}`));
    expect(await refuse(await write(parts))).toContain(`does not know: ${name}`);
  });

  /** Changes a field of the header of the second part, and its checksum. */
  const withField = (at: number, text: string) => (tar: Buffer) => {
    const size = parseInt(tar.toString('latin1', 124, 135), 8);
    const start = 512 + Math.ceil(size / 512) * 512;
    tar.write(text, start + at, 'latin1');
    const header = tar.subarray(start, start + 512);
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return tar;
  };
  test.each<[what: string, change: (tar: Buffer) => Buffer, fault: RegExp]>([
    ['a symbolic link', withField(156, '2'), /no regular file/],
    ['a hard link', withField(156, '1'), /no regular file/],
    ['a folder', withField(156, '5'), /no regular file/],
    ['a long name of GNU tar', withField(156, 'L'), /no regular file/],
    ['a name in two pieces', withField(345, '../..'), /no regular file/],
    ['a negative size', withField(124, '-0000000001\0'), /damaged/],
    ['a size with words', withField(124, '7words\0'), /damaged/],
    ['a size of 8 GB', withField(124, '77777777777\0'), /damaged|too large/],
    ['a size of 64 MB', withField(124, '00400000000\0'), /damaged|too large/],
    ['no end', (tar) => tar.subarray(0, -1024), /cut off/],
    ['bytes after the end', (tar) => Buffer.concat([tar, Buffer.alloc(4096, 'x')]), /damaged/],
  ])('are refused: %s', async (_what, change, fault) => {
    expect(await refuseUnopened(await write(readParts(), change))).toMatch(fault);
  });
});

test('a file of kilobytes that unpacks to a gigabyte is refused with little memory', async () => {
  const file = world.newFile();
  const bomb: TarEntry = { name: 'header.json', data: Buffer.alloc(0) };
  const [head] = tarEntry(bomb, new Date(0));
  head!.write('10000000000', 124);
  head!.fill(' ', 148, 156);
  head!.write(
    `${head!
      .reduce((total, byte) => total + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  const zeros = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024));
  await writeFile(file, Buffer.concat([zstdCompressSync(head!), ...Array<Buffer>(16).fill(zeros)]));
  const before = process.memoryUsage().arrayBuffers;
  const failure = await runRestore([file, '--check'], world.deps({})).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(BackupError);
  expect((failure as Error).message).toMatch(/too large/);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
});

test('files without content are refused before their names fill the memory', async () => {
  const file = world.newFile();
  const files = Array.from({ length: 40_000 }, (_, index) => ({ name: `files/a${index}`, data: Buffer.alloc(0) }));
  await writeFile(file, zstdCompressSync(tarOf([json('header.json', readParts().header), ...files])));
  await expect(runRestore([file, '--check'], world.deps({}))).rejects.toThrow(/too large/);
});

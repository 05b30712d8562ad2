/** A restore refuses archives that are damaged or forged, or that a newer program wrote. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { setUpBackups, withClient } from '../../../tests/support/commands/backups.ts';
import { programEnvironment } from '../../../tests/support/product.ts';
import { runRestore } from './restore-command.ts';
import { dataEntryName, FORMAT_VERSION, type Header } from './archive-format.ts';
import { readArchive, verifyArchive } from './read-archive.ts';
import { writeArchive } from './write-archive.ts';

const world = setUpBackups();
let file: string;
beforeAll(async () => {
  file = await world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: world.folder });
});

const damage: readonly (readonly [what: string, (file: string) => Promise<unknown>, fault: string])[] = [
  ['that was cut off', async (copy) => truncate(copy, (await stat(copy)).size - 100), 'it is damaged or was cut off'],
  ['that was cut in half', async (copy) => truncate(copy, 5_000), 'it is damaged or was cut off'],
  ['that is empty', (copy) => truncate(copy, 0), 'it is no backup of Hustle Forge'],
  [
    'of pg_dump',
    (copy) => writeFile(copy, 'PGDMP\u0001'),
    'it is no backup of Hustle Forge but an archive of pg_dump: restore it with pg_restore',
  ],
  ['of words', (copy) => writeFile(copy, 'Dear operator'), 'it is no backup of Hustle Forge'],
];
test.each(damage)('refuses a file %s', async (_what, change, fault) => {
  const copy = world.newFile();
  await writeFile(copy, await readFile(file));
  await change(copy);
  const dataDir = join(world.folder, randomBytes(6).toString('hex'));
  const failure = await runRestore([copy], world.deps({ DATA_DIR: dataDir })).catch((error: Error) => error.message);
  expect(failure).toBe(`${copy}: ${fault}`);
  expect(existsSync(dataDir)).toBe(false);
});

test('refuses a folder, and says so', async () => {
  const failure = await runRestore([world.folder, '--check'], world.deps({})).catch((error: Error) => error.message);
  expect(failure).toBe(`${world.folder}: it is a folder: name one of the backups in it`);
});

/** Writes a valid tar.zst with changed or missing parts. The manifest stays as it was, unless `change` changes it. */
async function rewrite(change: (name: string, data: Buffer) => Buffer | null): Promise<string> {
  const copy = world.newFile();
  async function* entries() {
    for await (const entry of readArchive({ file, identities: null })) {
      const name =
        entry.kind === 'data'
          ? dataEntryName(entry.table, entry.number)
          : entry.kind === 'file'
            ? `files/${entry.name}`
            : `${entry.kind}.json`;
      const data = change(name, entry.data);
      if (data !== null) yield { name, data };
    }
  }
  await writeArchive(copy, { entries: entries(), recipients: [], createdAt: new Date(0) });
  return copy;
}

test.each([
  [
    'a changed row',
    (name: string, data: Buffer) =>
      name.includes('entries') ? Buffer.from(data.toString().replace('back', 'BACK')) : data,
    'it was changed or is damaged: public.entries',
  ],
  [
    'a missing table',
    (name: string, data: Buffer) => (name.includes('auth.users') ? null : data),
    'damaged: auth.users',
  ],
  [
    'a changed header',
    (name: string, data: Buffer) =>
      name === 'header.json' ? Buffer.from(data.toString().replace('"postgres": "', '"postgres": "1')) : data,
    'damaged',
  ],
  [
    'a part that ends within a row',
    (name: string, data: Buffer) => (name.includes('auth.users') ? data.subarray(0, -1) : data),
    'ends within a row',
  ],
  [
    'a header of many megabytes',
    (name: string, data: Buffer) =>
      name === 'header.json' ? Buffer.concat([data, Buffer.alloc(17 * 1024 * 1024, ' ')]) : data,
    'too large',
  ],
  ['no manifest', (name: string, data: Buffer) => (name === 'manifest.json' ? null : data), 'it was cut off'],
])('refuses an archive with %s', async (_what, change, fault) => {
  await expect(runRestore([await rewrite(change)], world.deps({ DATA_DIR: world.folder }))).rejects.toThrow(fault);
});

async function archiveWith(change: (header: Header) => void): Promise<string> {
  const { header, manifest } = await verifyArchive({ file, identities: null });
  change(header);
  const text = JSON.stringify(header);
  manifest.header = createHash('sha256').update(text).digest('hex');
  return rewrite((name, data) =>
    name === 'header.json'
      ? Buffer.from(text)
      : name === 'manifest.json'
        ? Buffer.from(JSON.stringify(manifest))
        : data,
  );
}

test.each([
  ['a newer format', (header: Header) => void (header.version += 1), `has format ${FORMAT_VERSION + 1}`],
  [
    'another format',
    (header: Header) => void (header.format = 'tar' as Header['format']),
    'is no backup of Hustle Forge',
  ],
  [
    'a newer migration',
    (header: Header) => {
      header.program = '9.1.0';
      header.migrations.push({
        set: 'app',
        number: 9999,
        name: 'from_the_future',
        checksum: 'x',
        appliedAt: '2026-01-01',
      });
    },
    'it has app/9999_from_the_future. Restore it with version 9.1.0 or a newer one',
  ],
  [
    'another migration',
    (header: Header) => void (header.migrations[0]!.checksum = 'x'),
    'with another app/0039_baseline',
  ],
])('refuses an archive with %s', async (_what, change, fault) => {
  const copy = await archiveWith(change);
  await world.withOrdinaryOwner(async (url) => {
    const env = { DATABASE_URL: url, DATA_DIR: await world.newDataDir() };
    await expect(runRestore([copy], world.deps(env))).rejects.toThrow(fault);
    expect(
      (await withClient(url, (client) => client.query("select from pg_class where relname = 'users'"))).rows,
    ).toEqual([]);
  });
});

test('prints no control sequence of an archive to the terminal', async () => {
  const title = '\u001b]0;title\u0007';
  const newer = await archiveWith((header) => Object.assign(header, { version: FORMAT_VERSION + 1, program: title }));
  const whole = await archiveWith((header) => Object.assign(header, { program: title }));
  const program = join(import.meta.dirname, 'restore-command.ts');
  const outputs = await Promise.all(
    [newer, whole].map((copy) => {
      const child = spawn(process.execPath, [program, copy, '--check'], {
        env: programEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return Promise.all([readText(child.stdout), readText(child.stderr)]);
    }),
  );
  expect(outputs).toEqual([
    ['', expect.stringContaining('(?]0;title?)')],
    [expect.stringContaining('version ?]0;title? from'), ''],
  ]);
});

/** Reads an archive as a stream, and verifies a whole one against its manifest. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import {
  BackupError,
  kindOfEntry,
  parseHeader,
  parseManifest,
  RowHash,
  type EntryKind,
  type Header,
  type Manifest,
  type TableContent,
} from './archive-format.ts';
import { AGE_MAGIC, decrypt, type Identities } from './key-files.ts';
import { readTar } from './write-archive.ts';

const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const READ_CHUNK_BYTES = 256 * 1024;
/** The limit of the header, the keys and the manifest, which stay in memory. They usually have some kilobytes. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
/** Added for each part that `MAX_KEPT_BYTES` limits: a name without content takes memory too. */
const ENTRY_BYTES = 512;
const NEWLINE = 10;

/** Files that an operator may mistake for a backup, by their first bytes. */
const OTHER_FILES: readonly (readonly [bytes: Buffer, what: string])[] = [
  [Buffer.from('PGDMP'), 'an archive of pg_dump: restore it with pg_restore'],
  [Buffer.from('--\n-- PostgreSQL'), 'a script of pg_dump: restore it with psql'],
  [Buffer.from('-----BEGIN AGE'), 'an armored age file: convert it to binary with `age -d`'],
  [Buffer.from([0x1f, 0x8b]), 'a gzip file'],
];

export type Source = {
  file: string;
  /** The private keys for an encrypted archive. */
  identities: Identities | null;
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes that have been read so far. */
  onRead?: ((bytes: number) => void) | undefined;
};

export type ArchiveEntry = EntryKind & { data: Buffer };

export async function isEncrypted(file: string): Promise<boolean> {
  return (await readFirstBytes(file)).toString('latin1').startsWith(AGE_MAGIC);
}

/**
 * Yields the parts in order. @throws BackupError that names the file and its fault, or the error of the file system.
 */
export async function* readArchive(source: Source): AsyncGenerator<ArchiveEntry> {
  try {
    for await (const { name, data } of readTar(await openPlain(source))) yield { ...kindOfEntry(name), data };
  } catch (error) {
    source.signal?.throwIfAborted();
    if (error instanceof BackupError) throw new BackupError(`${source.file}: ${error.message}`, { cause: error });
    if (isSystemError(error)) throw error;
    throw new BackupError(`${source.file}: it is damaged or was cut off`, { cause: error });
  }
}

async function openPlain({ file, identities, signal, onRead }: Source): Promise<AsyncIterable<Buffer>> {
  const first = await readFirstBytes(file);
  const isAgeFile = first.toString('latin1').startsWith(AGE_MAGIC);
  if (isAgeFile && identities === null)
    throw new BackupError('it is encrypted: name the private key with --identity FILE');
  if (!isAgeFile && !first.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)) {
    const other = OTHER_FILES.find(([bytes]) => first.subarray(0, bytes.length).equals(bytes));
    throw new BackupError(`it is no backup of Hustle Forge${other ? ` but ${other[1]}` : ''}`);
  }
  // Threat: somebody replaces an encrypted backup by a plain archive of their own. An operator who names a private key
  // expects an encrypted one.
  if (!isAgeFile && identities !== null) {
    throw new BackupError('it is not encrypted: if that is what you expect, leave --identity out');
  }
  const raw = createReadStream(file, { highWaterMark: READ_CHUNK_BYTES, signal });
  let bytes = 0;
  raw.on('data', (chunk) => onRead?.((bytes += chunk.length)));
  raw.pause();
  return decompress(identities === null ? raw : await decrypt(raw, identities));
}

function decompress(source: AsyncIterable<Uint8Array> | Readable): AsyncIterable<Buffer> {
  const plain = createZstdDecompress({ chunkSize: READ_CHUNK_BYTES });
  // A failure destroys `plain`, whose reader gets the error.
  pipeline(source, plain, () => undefined);
  return plain;
}

async function readFirstBytes(file: string): Promise<Buffer> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`it cannot be read (${error.code ?? 'unknown error'})`);
  });
  try {
    if ((await handle.stat()).isDirectory()) throw new BackupError('it is a folder: name one of the backups in it');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

export type VerifiedArchive = {
  header: Header;
  manifest: Manifest;
  /** The content of the files, by their names. */
  files: ReadonlyMap<string, Buffer>;
};

/**
 * Reads the whole archive. Threat: a file of kilobytes unpacks to gigabytes. Only one part of the rows is in memory at
 * a time, and `MAX_KEPT_BYTES` limits the other parts.
 *
 * @throws BackupError unless it is complete and each part is what its manifest says
 */
export async function verifyArchive(source: Source): Promise<VerifiedArchive> {
  const reject = (reason: string): never => {
    throw new BackupError(`${source.file}: ${reason}`);
  };
  let header: Header | null = null;
  let headerHash = '';
  let manifest: Manifest | null = null;
  const files = new Map<string, Buffer>();
  const tables = new Map<string, RowHash>();
  const checkOrder = createOrderCheck();
  let keptBytes = 0;
  for await (const entry of readArchive(source)) {
    if (manifest !== null) reject('the archive is damaged: it goes on after its end');
    if ((entry.kind === 'header') !== (header === null))
      reject('it is no backup of Hustle Forge: its header is missing');
    if (entry.kind !== 'data' && (keptBytes += ENTRY_BYTES + entry.data.length) > MAX_KEPT_BYTES)
      reject('the archive is damaged: its header, keys and manifest are too large');
    if (entry.kind === 'header') {
      header = wrapErrors(() => parseHeader(entry.data.toString()), reject);
      headerHash = sha256(entry.data);
    } else if (entry.kind === 'manifest') manifest = wrapErrors(() => parseManifest(entry.data.toString()), reject);
    else if (entry.kind === 'file') {
      if (files.has(entry.name)) reject(`the archive is damaged: it has ${entry.name} twice`);
      files.set(entry.name, entry.data);
    } else {
      if (entry.data.at(-1) !== NEWLINE) reject('the archive is damaged: a part of a table ends within a row');
      if (!checkOrder(header!.tables, entry))
        reject(`the archive is damaged: a part of ${entry.table} is out of order`);
      const rows = tables.get(entry.table) ?? new RowHash();
      rows.update(entry.data);
      tables.set(entry.table, rows);
    }
  }
  if (header === null || manifest === null) return reject('the archive ends early: it was cut off');
  const found: Manifest = {
    header: headerHash,
    files: Object.fromEntries([...files].map(([name, data]) => [name, sha256(data)])),
    tables: Object.fromEntries(header.tables.map(({ name }) => [name, (tables.get(name) ?? new RowHash()).content()])),
  };
  const isWhole = manifest.header === found.header && isSameRecord(manifest.files, found.files);
  if (!isWhole) reject('it was changed or is damaged');
  const differing = differingTables(manifest.tables, found.tables);
  if (differing.length > 0) reject(`it was changed or is damaged: ${differing.join(', ')}`);
  return { header, manifest, files };
}

/**
 * Returns a function that takes the parts of the rows one after another. It returns true while the parts of each table
 * are numbered from 1 and the tables stand in the order of the header. Threat: parts of a million other tables would
 * fill the memory.
 */
function createOrderCheck(): (tables: Header['tables'], part: { table: string; number: number }) => boolean {
  let at = 0;
  let last = 0;
  return (tables, { table, number }) => {
    if (tables[at]?.name !== table) {
      last = 0;
      at = tables.findIndex(({ name }, index) => index > at && name === table);
    }
    last += 1;
    return at !== -1 && number === last;
  };
}

function wrapErrors<T>(work: () => T, reject: (reason: string) => never): T {
  try {
    return work();
  } catch (error) {
    return reject(error instanceof Error ? error.message : String(error));
  }
}

/** The names of the tables that only one side has, or whose rows differ. */
export function differingTables(
  expected: Readonly<Record<string, TableContent>>,
  found: Readonly<Record<string, TableContent>>,
): string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names].filter(
    (name) => expected[name]?.hash !== found[name]?.hash || expected[name]?.rows !== found[name]?.rows,
  );
}

const isSameRecord = (one: Record<string, string>, other: Record<string, string>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([key, value]) => other[key] === value);

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** Writes an archive to a file that appears only when it is whole and on disk. */
import { createHash } from 'node:crypto';
import { access, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { BackupError } from './archive-format.ts';
import { encrypt } from './key-files.ts';
import { syncFolder } from './folder.ts';

const COMPRESSED_CHUNK_BYTES = 256 * 1024;

export type WrittenArchive = { bytes: number; sha256: string };

type Options = {
  entries: AsyncIterable<TarEntry>;
  /** Public age keys; none leaves the archive unencrypted. */
  recipients: readonly string[];
  createdAt: Date;
  signal?: AbortSignal | undefined;
};

/** @throws BackupError when the file exists. A failure leaves no part of the new archive. */
export async function writeArchive(file: string, options: Options): Promise<WrittenArchive> {
  const { recipients, signal } = options;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await rejectExisting(file);
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}.unfinished`);
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    const written = { bytes: 0, sha256: '' };
    const compress = createZstdCompress({
      chunkSize: COMPRESSED_CHUNK_BYTES,
      params: { [constants.ZSTD_c_checksumFlag]: 1 },
    });
    const write = async (source: AsyncIterable<Uint8Array>) =>
      Object.assign(written, await writeChunks(handle, source));
    const tar = Readable.from(tarBlocks(options), { objectMode: true });
    if (recipients.length === 0) await pipeline(tar, compress, write, { signal });
    else await pipeline(tar, compress, (source) => encrypt(source, recipients), write, { signal });
    await handle.sync();
    await handle.close();
    await rejectExisting(file);
    await rename(unfinished, file);
    await syncFolder(dirname(file));
    return written;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function* tarBlocks({ entries, createdAt }: Options): AsyncGenerator<Buffer> {
  for await (const entry of entries) yield* tarEntry(entry, createdAt).filter(({ length }) => length > 0);
  yield TAR_END;
}

async function writeChunks(handle: FileHandle, source: AsyncIterable<Uint8Array>): Promise<WrittenArchive> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of source) {
    digest.update(chunk);
    bytes += chunk.length;
    // `writeFile` on a handle writes all of the chunk at the current position.
    await handle.writeFile(chunk);
  }
  return { bytes, sha256: digest.digest('hex') };
}

async function rejectExisting(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new BackupError(`${file} exists already`);
}

export type TarEntry = { name: string; data: Buffer };

const BLOCK = 512;
const MAX_NAME_BYTES = 100;
/**
 * Far more than usual: a part is about one megabyte, or a few if one row has a large document. It is held in memory.
 */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;
const FILE_MODE = '0000600';
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const TYPE_AT = 156;
const PREFIX_AT = 345;

/** The end of an archive in POSIX ustar, of which this file supports regular files with short names. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** The header, the data and the padding of one file. */
export function tarEntry({ name, data }: TarEntry, modifiedAt: Date): Buffer[] {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new BackupError(`${name} is too long a name for the archive`);
  if (data.length > MAX_ENTRY_BYTES) throw new BackupError(`${name} has a row that is too large for the archive`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write(FILE_MODE, 100);
  header.write('0000000', 108);
  header.write('0000000', 116);
  header.write(octal(data.length, 11), 124);
  header.write(octal(Math.floor(modifiedAt.getTime() / 1000), 11), 136);
  header.write('0', TYPE_AT);
  header.write('ustar\u000000', 257);
  header.write(`${octal(checksumOf(header), 6)}\0 `, CHECKSUM_AT);
  return [header, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)];
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

/** The sum of all bytes of the header. As ustar defines it, the bytes of the checksum itself count as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) {
    sum += at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES ? 0x20 : byte;
  }
  return sum;
}

/** Yields the files of a tar stream. @throws BackupError when it is damaged, ends early or goes on after its end. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = new BlockReader(source);
  for (;;) {
    const header = await reader.read(BLOCK);
    if (isZero(header)) break;
    const [size, sum] = [parseOctal(textAt(header, 124, 12)), parseOctal(textAt(header, CHECKSUM_AT, CHECKSUM_BYTES))];
    if (size === null || checksumOf(header) !== sum) throw new BackupError('the archive is damaged');
    const name = textAt(header, 0, MAX_NAME_BYTES);
    // Threat: another program reads a link, or a name that continues in the prefix field, as another file than this
    // one.
    const isRegular = /^[0\0]$/.test(header.toString('latin1', TYPE_AT, TYPE_AT + 1)) && header[PREFIX_AT] === 0;
    if (!isRegular) throw new BackupError(`the archive is damaged: ${name} is no regular file`);
    if (size > MAX_ENTRY_BYTES) throw new BackupError(`the archive is damaged: ${name} is too large`);
    const data = await reader.read(size);
    await reader.read((BLOCK - (size % BLOCK)) % BLOCK);
    yield { name, data };
  }
  if (!isZero(await reader.read(BLOCK)) || !(await reader.isAtEnd())) throw new BackupError('the archive is damaged');
}

/** Threat: `parseInt` also accepts a sign, and words behind the digits. */
const parseOctal = (text: string): number | null => (/^[0-7]+ *$/.test(text) ? parseInt(text, 8) : null);

const textAt = (header: Buffer, start: number, bytes: number): string =>
  header.toString('utf8', start, start + bytes).replace(/\0.*$/s, '');

const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0);

class BlockReader {
  readonly #source: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async read(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = bytes; missing > 0;) {
      if (await this.isAtEnd()) throw new BackupError('the archive ends early: it was cut off');
      const part = this.#chunk.subarray(0, missing);
      this.#chunk = this.#chunk.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next();
      if (next.done) return true;
      this.#chunk = next.value;
    }
    return false;
  }
}

/** Writes an archive to a file that appears only when it is whole and on disk. */
import { createHash } from 'node:crypto';
import { access, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { BackupError } from '../backup-error.ts';
import { syncFolder } from '../folder.ts';
import { encrypt } from './age.ts';
import { TAR_END, tarEntry, type TarEntry } from './tar.ts';

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

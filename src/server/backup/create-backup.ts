/** Writes one archive of the database and the key files, while the server serves. */
import {
  dataEntryName,
  fileEntryName,
  FORMAT,
  FORMAT_VERSION,
  HEADER_NAME,
  MANIFEST_NAME,
  RowHash,
  type ArchivedTable,
  type Header,
  type Manifest,
  type TableContent,
  type OnProgress,
} from './archive-format.ts';
import { createHash } from 'node:crypto';
import { writeArchive, type TarEntry, type WrittenArchive } from './write-archive.ts';
import { openSnapshot, type Snapshot } from './read-tables.ts';

/** How much of a table is in memory at a time. A part ends at the end of a row, so it may be larger. */
const PART_BYTES = 1024 * 1024;
const NEWLINE = 10;

export type BackupOptions = {
  ownerUrl: string;
  file: string;
  /** Public age keys; none leaves the archive unencrypted. */
  recipients: readonly string[];
  keyFiles: ReadonlyMap<string, Buffer>;
  /** The version of this program. */
  program: string;
  createdAt: Date;
  signal?: AbortSignal | undefined;
  onProgress?: OnProgress | undefined;
};

export type CreatedBackup = WrittenArchive & {
  header: Header;
  manifest: Manifest;
  /** Tables that this program did not make. The backup does not contain them. */
  leftOut: readonly string[];
};

/** @throws BackupError, or the error of the database or the file system; then no file is left. */
export async function createBackup(options: BackupOptions): Promise<CreatedBackup> {
  const { ownerUrl, file, recipients, keyFiles, program, createdAt, signal } = options;
  const snapshot = await openSnapshot(ownerUrl);
  const stop = (): void => snapshot.drop();
  signal?.addEventListener('abort', stop);
  try {
    const { postgres, migrations, tables, sequences } = snapshot;
    const at = createdAt.toISOString();
    const header: Header = {
      ...{ format: FORMAT, version: FORMAT_VERSION, program, createdAt: at },
      ...{ postgres, migrations, tables, sequences },
    };
    const manifest: Manifest = { header: '', files: {}, tables: {} };
    const entries = archiveEntries(snapshot, header, manifest, keyFiles, options.onProgress);
    const written = await writeArchive(file, { entries, recipients, createdAt, signal });
    return { ...written, header, manifest, leftOut: snapshot.leftOut };
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    snapshot.drop();
  }
}

/** Yields the files of the archive. `manifest` is filled as the parts are read, so it is the last file. */
async function* archiveEntries(
  snapshot: Snapshot,
  header: Header,
  manifest: Manifest,
  keyFiles: ReadonlyMap<string, Buffer>,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<TarEntry> {
  const headerEntry = jsonEntry(HEADER_NAME, header);
  manifest.header = sha256(headerEntry.data);
  yield headerEntry;
  for (const [name, data] of keyFiles) {
    manifest.files[name] = sha256(data);
    yield { name: fileEntryName(name), data };
  }
  for (const table of header.tables) {
    manifest.tables[table.name] = yield* dataEntries(snapshot.streamRows(table), table, onProgress);
  }
  yield jsonEntry(MANIFEST_NAME, manifest);
}

const jsonEntry = (name: string, content: object): TarEntry => ({
  name,
  data: Buffer.from(`${JSON.stringify(content, null, 1)}\n`),
});

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

async function* dataEntries(
  rows: AsyncIterable<Buffer>,
  { name }: ArchivedTable,
  onProgress: OnProgress,
): AsyncGenerator<TarEntry, TableContent> {
  const content = new RowHash();
  let parts: Buffer[] = [];
  let size = 0;
  let bytes = 0;
  let number = 0;
  const takeEntry = (): TarEntry => ({ name: dataEntryName(name, (number += 1)), data: Buffer.concat(parts) });
  for await (const chunk of rows) {
    content.update(chunk);
    bytes += chunk.length;
    onProgress({ doing: `reading ${name}`, bytes });
    const cut = size + chunk.length < PART_BYTES ? 0 : chunk.lastIndexOf(NEWLINE) + 1;
    if (cut > 0) {
      parts.push(chunk.subarray(0, cut));
      yield takeEntry();
      parts = [];
      size = 0;
    }
    parts.push(chunk.subarray(cut));
    size += chunk.length - cut;
  }
  if (size > 0) yield takeEntry();
  return content.content();
}

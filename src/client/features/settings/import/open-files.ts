/** The files that the user chose as source files: files of a folder, and the members of zips, unpacked when read. */
import { IMPORT_PROBLEMS } from '#domain/journals/export-guides.ts';
import { isMedia, type SkipReason, type SourceFile } from '#domain/journals/journal-reader.ts';

/** `path`: the name of a single file; for a file of a folder it begins with the name of the chosen folder. */
export type ChosenFile = { path: string; file: File };

/** The files cannot be imported. The message is for the user. */
export class ImportRefusedError extends Error {
  override name = 'ImportRefusedError';
}

/** A zip, or a member of one, that cannot be opened. What lies beside it can be imported. */
type Unopened = { name: string; reason: SkipReason };

class UnopenedZipError extends ImportRefusedError {
  readonly reason: SkipReason;

  constructor(path: string, reason: 'broken' | 'encrypted', options?: ErrorOptions) {
    super(`${path} ${reason === 'broken' ? IMPORT_PROBLEMS.brokenZip : IMPORT_PROBLEMS.encryptedZip}`, options);
    this.reason = reason;
  }
}

export const MAX_FILES = 50_000;
export const MAX_CHOSEN_BYTES = 2_000_000_000;
/** The limit for all members of zips that are read, together. Pictures are not read, so they don't count. */
const MAX_UNPACKED_BYTES = 1024 ** 3;
const MAX_NESTED_ZIPS = 1_000;
/** Deflate reaches 1,032 to 1; text rarely 20. Threat: a zip bomb fills the memory of the tab. */
const MAX_RATIO = 200;
/** Smaller members may have any ratio. */
const MIN_RATIO_BYTES = 10 * 1024 ** 2;

/** Backups of Bear and text packs are zips of text bundles. */
export const isZip = (path: string): boolean => /\.(?:zip|bear2?bk|textpack)$/i.test(path);

type OpenFiles = {
  /** Each zip is a group of its own, because the zips of several programs can be chosen at once. */
  groups: { name: string; files: SourceFile[] }[];
  unopened: Unopened[];
  /** The first bytes of a file, without unpacking the rest. */
  readStart: (file: SourceFile) => Promise<Uint8Array>;
  /** Why reading has to stop although a reader may have caught the error; null if nothing is wrong. */
  problem: () => ImportRefusedError | null;
  /** For files that no reader recognised: a zip, or a member of one, could not be opened. Null if all could. */
  damage: () => ImportRefusedError | null;
  close: () => Promise<void>;
};

type Zips = typeof import('@zip.js/zip.js/lib/zip-core-native.js');
type FileEntry = import('@zip.js/zip.js/lib/zip-core-native.js').FileEntry;
type Archive = {
  unpacked: number;
  problem: ImportRefusedError | null;
  damage: ImportRefusedError | null;
  unopened: Unopened[];
  starts: Map<SourceFile, () => Promise<Uint8Array>>;
  close: (() => Promise<void>)[];
};

const START_BYTES = 4_096;

/** @throws ImportRefusedError */
export async function openFiles(chosen: readonly ChosenFile[]): Promise<OpenFiles> {
  if (chosen.length > MAX_FILES) throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyFiles);
  const tooLarge = chosen.find(({ file }) => file.size >= MAX_CHOSEN_BYTES);
  if (tooLarge) throw new ImportRefusedError(`${tooLarge.path} ${IMPORT_PROBLEMS.tooLarge}`);
  const archive: Archive = { unpacked: 0, problem: null, damage: null, unopened: [], starts: new Map(), close: [] };
  const groups: OpenFiles['groups'] = [];
  const files: SourceFile[] = [];
  let count = 0;
  for (const { path, file } of chosen) {
    if (!isZip(path)) {
      const source: SourceFile = { path, size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) };
      archive.starts.set(source, async () => new Uint8Array(await file.slice(0, START_BYTES).arrayBuffer()));
      files.push(source);
      continue;
    }
    // Several zips can have members of the same path.
    const folder = chosen.length > 1 || /\.textpack$/i.test(path) ? `${path.replace(/\.zip$/i, '')}/` : '';
    const members = await openZip({ path, blob: file, folder, depth: 0 }, archive);
    if (!members) continue;
    groups.push({ name: path, files: members });
    count += members.length;
    if (files.length + count > MAX_FILES) throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyFiles);
  }
  const [first] = files;
  if (!first && groups.length === 0 && archive.damage) throw archive.damage;
  if (first) groups.unshift({ name: first.path, files });
  return {
    groups,
    unopened: archive.unopened,
    readStart: (file) => archive.starts.get(file)!(),
    problem: () => archive.problem,
    damage: () => archive.damage,
    close: async () => void (await Promise.allSettled(archive.close.map((run) => run()))),
  };
}

/** `/Diary/a.md`, `./a.md` and `..\a.md` are members like others: nothing is written to a disk. */
const normalizePath = (path: string): string => path.replaceAll('\\', '/').replace(/^\/+|(?<=^|\/)\.{1,2}\//g, '');

type OpenZip = { path: string; blob: Blob; folder: string; depth: number };

/** Null for a zip that cannot be opened, which is listed as such. @throws ImportRefusedError */
async function openZip(zip: OpenZip, archive: Archive): Promise<SourceFile[] | null> {
  try {
    return await openMembers(zip, archive);
  } catch (error) {
    const problem =
      error instanceof ImportRefusedError ? error : new UnopenedZipError(zip.path, 'broken', { cause: error });
    if (!(problem instanceof UnopenedZipError)) throw problem;
    archive.damage ??= problem;
    archive.unopened.push({ name: zip.path, reason: problem.reason });
    return null;
  }
}

async function openMembers({ path, blob, folder, depth }: OpenZip, archive: Archive): Promise<SourceFile[]> {
  const zips: Zips = await import('@zip.js/zip.js/lib/zip-core-native.js');
  const reader = new zips.ZipReader(new zips.BlobReader(blob), {
    useWebWorkers: false,
    checkSignature: true,
    filenameValidation: 'tolerant',
  });
  archive.close.push(() => reader.close());
  const files: SourceFile[] = [];
  const nested: SourceFile[] = [];
  const encrypted: Unopened[] = [];
  const unpack = async (entry: FileEntry, maxBytes: number): Promise<Uint8Array> => {
    try {
      return await readAtMost(entry, maxBytes);
    } catch (error) {
      archive.damage ??= new UnopenedZipError(path, 'broken', { cause: error });
      throw error;
    }
  };
  for await (const entry of reader.getEntriesGenerator()) {
    if (entry.directory || entry.filename.endsWith('\\')) continue;
    const file: SourceFile = {
      path: folder + normalizePath(entry.filename),
      size: entry.uncompressedSize,
      async read() {
        refuseBomb(path, entry, archive);
        return unpack(entry, entry.uncompressedSize);
      },
    };
    if (entry.encrypted && !isMedia(file)) encrypted.push({ name: file.path, reason: 'encrypted' });
    else (isZip(entry.filename) && depth === 0 ? nested : files).push(file);
    archive.starts.set(file, () => unpack(entry, START_BYTES));
    if (files.length + nested.length + encrypted.length > MAX_FILES)
      throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyFiles);
  }
  if (encrypted.length > 0 && nested.length === 0 && files.every(isMedia))
    throw new UnopenedZipError(path, 'encrypted');
  archive.unopened.push(...encrypted);
  files.push(...nested.slice(MAX_NESTED_ZIPS));
  // Notion packs a large export as zips in a zip. Zips in these are not opened.
  for (const file of nested.slice(0, MAX_NESTED_ZIPS)) files.push(...(await openNested(file, archive)));
  return files;
}

async function openNested(file: SourceFile, archive: Archive): Promise<SourceFile[]> {
  const { path } = file;
  const bytes = await file.read().catch((error: unknown) => {
    if (archive.problem) throw error;
    archive.unopened.push({ name: path, reason: 'broken' });
    return null;
  });
  if (bytes === null) return [];
  const blob = new Blob([bytes as Uint8Array<ArrayBuffer>]);
  const members = await openZip({ path, blob, folder: `${path.replace(/\.zip$/i, '')}/`, depth: 1 }, archive);
  return members ?? [];
}

function refuseBomb(path: string, { uncompressedSize, compressedSize }: FileEntry, archive: Archive): void {
  const isBomb = uncompressedSize > MIN_RATIO_BYTES && uncompressedSize > compressedSize * MAX_RATIO;
  archive.unpacked += uncompressedSize;
  if (isBomb || archive.unpacked > MAX_UNPACKED_BYTES) {
    const problem = isBomb ? IMPORT_PROBLEMS.zipRatio : IMPORT_PROBLEMS.zipTotal;
    archive.problem ??= new ImportRefusedError(`${path} ${problem}`);
  }
  if (archive.problem) throw archive.problem;
}

/** Stops at `maxBytes`. Threat: a member unpacks to more than the directory of its zip says. */
async function readAtMost(entry: FileEntry, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const full = new AbortController();
  const writable = new WritableStream<Uint8Array>({
    write(chunk) {
      const rest = chunk.subarray(0, maxBytes - length);
      chunks.push(rest);
      length += rest.length;
      if (length >= maxBytes && rest.length < chunk.length) full.abort();
    },
  });
  await entry.getData(writable, { signal: full.signal }).catch((error: unknown) => {
    if (!full.signal.aborted) throw error;
  });
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * The content of a backup (docs/operations/backup.md): a tar archive of `header.json`, `files/NAME`,
 * `data/TABLE/NUMBER.copy` and, as its end, `manifest.json`. It is compressed with zstd and, with a recipient,
 * encrypted with age, so that `age`, `zstd`, `tar` and `psql` can read it without this program.
 */
import { hash } from 'node:crypto';
import { isObject, parseJson } from '../parse-json.ts';

export const FORMAT = 'hustle-forge-backup';
/** Raise it with a change that older programs cannot read. A program refuses archives with a higher version. */
export const FORMAT_VERSION = 1;

export const HEADER_NAME = 'header.json';
export const MANIFEST_NAME = 'manifest.json';

export type ArchivedMigration = { set: string; number: number; name: string; checksum: string; appliedAt: string };
export type ArchivedTable = {
  /** Schema and name, such as `public.entries`. */
  name: string;
  /** The columns of each row, in order. Generated columns are left out. */
  columns: string[];
};
/** The state of the sequence behind an identity column, as the arguments of `setval`. */
export type ArchivedSequence = { table: string; column: string; lastValue: string; isCalled: boolean };

export type Header = {
  format: typeof FORMAT;
  version: number;
  /** The version of the program that wrote the archive. */
  program: string;
  createdAt: string;
  postgres: string;
  migrations: ArchivedMigration[];
  tables: ArchivedTable[];
  sequences: ArchivedSequence[];
};

/** The same rows in any order give the same hash. */
export type TableContent = { rows: number; bytes: number; hash: string };

export type Manifest = {
  /** SHA-256 of `header.json`. */
  header: string;
  /** SHA-256 of each file, by its name. */
  files: Record<string, string>;
  tables: Record<string, TableContent>;
};

export const fileEntryName = (name: string): string => `files/${name}`;
export const dataEntryName = (table: string, number: number): string =>
  `data/${table}/${String(number).padStart(8, '0')}.copy`;

export type EntryKind =
  | { kind: 'header' }
  | { kind: 'manifest' }
  | { kind: 'file'; name: string }
  | { kind: 'data'; table: string; number: number };

export function kindOfEntry(path: string): EntryKind {
  if (path === HEADER_NAME) return { kind: 'header' };
  if (path === MANIFEST_NAME) return { kind: 'manifest' };
  const [, file] = /^files\/([a-z0-9.-]+)$/.exec(path) ?? [];
  if (file !== undefined) return { kind: 'file', name: file };
  const [, table, number] = /^data\/([^/]+)\/(\d{8})\.copy$/.exec(path) ?? [];
  if (table !== undefined) return { kind: 'data', table, number: Number(number) };
  throw new BackupError(`the archive is damaged: it has an unknown part, ${path}`);
}

/**
 * A header has some hundred values, mostly names of columns. Threat: 16 MB of brackets take 790 MB of memory to parse.
 */
const MAX_VALUES = 100_000;

/** @throws BackupError when this program cannot read the archive. */
export function parseHeader(text: string): Header {
  const header = parseJson(text, MAX_VALUES);
  if (!isObject(header) || header.format !== FORMAT || !Number.isSafeInteger(header.version)) {
    throw new BackupError('it is no backup of Hustle Forge: it does not begin with the header of one');
  }
  const { version, program } = header as { version: number; program: unknown };
  if (version > FORMAT_VERSION) {
    throw new BackupError(
      `the backup has format ${version}, and this program reads up to ${FORMAT_VERSION}: ` +
        `restore it with the program that made it (${String(program)}) or a newer one`,
    );
  }
  const wrong = findWrongField(header);
  if (wrong !== null) throw new BackupError(`the archive is damaged: its header has no valid ${wrong}`);
  return header as Header;
}

/** Threat: a forged header names a table or a column twice, or a table that is not ours, such as that of the roles. */
function findWrongField(header: Record<string, unknown>): string | null {
  const { version, program, createdAt, postgres, migrations, tables, sequences } = header;
  if (Number(version) < 1) return 'version';
  if (![program, createdAt, postgres].every(isText)) return 'program, time or version of PostgreSQL';
  if (!isFilledListOf(migrations, isMigration) || hasTwice(migrations.map(({ set, number }) => `${set}/${number}`))) {
    return 'migrations';
  }
  if (!isFilledListOf(tables, isTable) || hasTwice(tables.map(({ name }) => name))) return 'tables';
  if (!Array.isArray(sequences) || !sequences.every(isSequence)) return 'sequences';
  return null;
}

/** @throws BackupError */
export function parseManifest(text: string): Manifest {
  const manifest = parseJson(text, MAX_VALUES);
  if (isObject(manifest) && isText(manifest.header) && isObject(manifest.files) && isObject(manifest.tables)) {
    const isValid = Object.values(manifest.files).every(isText) && Object.values(manifest.tables).every(isTableContent);
    if (isValid) return manifest as Manifest;
  }
  throw new BackupError('the archive is damaged: its manifest is not valid');
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isFilledListOf = <Item>(value: unknown, isItem: (item: unknown) => item is Item): value is Item[] =>
  Array.isArray(value) && value.length > 0 && value.every(isItem);

const hasTwice = (texts: readonly string[]): boolean => new Set(texts).size < texts.length;

const isMigration = (value: unknown): value is ArchivedMigration =>
  isObject(value) && [value.set, value.name, value.checksum, value.appliedAt].every(isText) && isCount(value.number);

const isTable = (value: unknown): value is ArchivedTable =>
  isObject(value) &&
  isText(value.name) &&
  /^(auth|public)\./.test(value.name) &&
  isFilledListOf(value.columns, isText) &&
  !hasTwice(value.columns);

const isSequence = (value: unknown): value is ArchivedSequence =>
  isObject(value) &&
  [value.table, value.column, value.lastValue].every(isText) &&
  /^-?\d{1,19}$/.test(String(value.lastValue)) &&
  typeof value.isCalled === 'boolean';

const isTableContent = (value: unknown): value is TableContent =>
  isObject(value) && isCount(value.rows) && isCount(value.bytes) && isText(value.hash);

// Hashes the rows of a table whatever their order: the sum of the SHA-256 of each row, modulo 2^256. A sequential scan
// returns rows in any order, and sorting a large table for a hash of the whole text could fill the disk of a live
// server. Detects damage, not forgery: only the encryption protects an archive against somebody who rewrites it.

const NEWLINE = 10;
const WORDS = 8;
const WORD_MAX = 0xffff_ffff;

/** Takes text of COPY: each row ends with a line break, and COPY escapes line breaks within a row. */
export class RowHash {
  #rows = 0;
  #bytes = 0;
  readonly #sum = new Uint32Array(WORDS);
  #unfinished: Buffer[] = [];

  update(chunk: Buffer): void {
    this.#bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const row = chunk.subarray(start, end + 1);
      this.#add(this.#unfinished.length === 0 ? row : Buffer.concat([...this.#unfinished, row]));
      this.#unfinished = [];
      start = end + 1;
    }
    // Copied, because the caller may reuse the chunk.
    if (start < chunk.length) this.#unfinished.push(Buffer.from(chunk.subarray(start)));
  }

  #add(row: Buffer): void {
    this.#rows += 1;
    const digest = hash('sha256', row, 'buffer');
    let carry = 0;
    for (let word = 0; word < WORDS; word += 1) {
      const sum = this.#sum[word]! + digest.readUInt32LE(word * 4) + carry;
      this.#sum[word] = sum;
      carry = sum > WORD_MAX ? 1 : 0;
    }
  }

  get rows(): number {
    return this.#rows;
  }

  content(): TableContent {
    const words = Array.from(this.#sum, (word) => word.toString(16).padStart(8, '0'));
    return { rows: this.#rows, bytes: this.#bytes, hash: words.toReversed().join('') };
  }
}

/** An expected failure of a backup or a restore. The message is for the operator. */
export class BackupError extends Error {}

/** Wrong arguments. The command exits with 2. */
export class UsageError extends Error {}

/** The report of a long step while it runs. */
export type Progress = {
  /** Such as `reading public.entries`. */
  doing: string;
  /** Bytes of the step so far, uncompressed unless the step reads a file. */
  bytes: number;
};

export type OnProgress = (progress: Progress) => void;

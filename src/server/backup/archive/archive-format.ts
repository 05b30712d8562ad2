/**
 * The content of a backup (docs/operations/backup.md): a tar archive of `header.json`, `files/NAME`,
 * `data/TABLE/NUMBER.copy` and, as its end, `manifest.json`. It is compressed with zstd and, with a recipient, encrypted
 * with age, so that `age`, `zstd`, `tar` and `psql` can read it without this program.
 */
import { parseJson } from '#server/parse-json.ts';
import { BackupError } from '../backup-error.ts';

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

/** The same rows in any order give the same hash (`row-hash.ts`). */
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
  | { kind: 'data'; table: string };

export function kindOfEntry(path: string): EntryKind {
  if (path === HEADER_NAME) return { kind: 'header' };
  if (path === MANIFEST_NAME) return { kind: 'manifest' };
  const [, file] = /^files\/([a-z0-9.-]+)$/.exec(path) ?? [];
  if (file !== undefined) return { kind: 'file', name: file };
  const [, table] = /^data\/([^/]+)\/\d{8}\.copy$/.exec(path) ?? [];
  if (table !== undefined) return { kind: 'data', table };
  throw new BackupError(`the archive is damaged: it has an unknown part, ${path}`);
}

/** @throws BackupError when this program cannot read the archive. */
export function parseHeader(text: string): Header {
  const header = parseJson(text) as Partial<Header> | undefined;
  if (header?.format !== FORMAT || typeof header.version !== 'number') {
    throw new BackupError('it is no backup of Hustle Forge: it does not begin with the header of one');
  }
  if (header.version > FORMAT_VERSION) {
    throw new BackupError(
      `the backup has format ${header.version}, and this program reads up to ${FORMAT_VERSION}: ` +
        `restore it with the program that made it (${header.program}) or a newer one`,
    );
  }
  return header as Header;
}

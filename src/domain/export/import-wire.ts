/** The requests and responses of the functions `import-entries`, `list-imports` and `undo-import`. */
import type { Day } from '../day/day.ts';
import { ENTRY_MAX_BYTES, type Version } from '../log/entry.ts';
import type { ExportedEntry, Refusal } from './exported-entry.ts';

export const IMPORT_MAX_ENTRIES = 50;
/**
 * Maximum size of a request: two logs of maximum size fill a batch, JSON may escape each of their bytes as six
 * (`\u003c`), and the rest is for the other fields.
 */
export const IMPORT_BODY_BYTES = 2 * 6 * ENTRY_MAX_BYTES + 512 * 1024;
/**
 * Size of the browser's requests in UTF-8, below the megabyte that proxies accept by default. A larger log is sent in a
 * request of its own.
 */
export const IMPORT_REQUEST_BYTES = 900_000;

/** `replaces` is the stored version to overwrite (optimistic lock); null if the day must not exist. */
export type ImportEntry = ExportedEntry & { replaces: Version | null };

/** `changed`: the stored day does not match `replaces`, so nothing was written. */
export type ImportOutcome =
  | { date: Day; outcome: 'written' | 'changed' }
  | { date: string; outcome: 'refused'; reason: Refusal };

export type ImportAnswer = { success: true; outcomes: ImportOutcome[] } | { success: false; error: string };

/** The number of a user's imports that can be undone, for `VERSION_DAYS` (log/entry-version.ts). */
export const MAX_UNDOABLE_IMPORTS = 5;

/** `program`: null if the client did not say. */
export type PastImport = { id: string; writtenAt: string; days: number; program: string | null };

/** In UTF-16 code units. A longer name is cut. */
export const MAX_PROGRAM_LENGTH = 100;
export type ImportListAnswer = { success: true; imports: PastImport[] } | { success: false; error: string };

/** `kept`: days that changed since the import and stay as they are. The client repeats the call until none remains. */
export type UndoAnswer =
  | { success: true; undone: number; kept: Day[]; remaining: number }
  | { success: false; error: string };

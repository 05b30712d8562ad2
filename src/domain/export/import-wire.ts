/** What the browser and the function `import-entries` say to each other. */
import type { Day } from '../day/day.ts';
import { ENTRY_MAX_BYTES } from '../log/entry.ts';
import type { Version } from '../log/entry.ts';
import type { ExportedEntry, Refusal } from './exported-entry.ts';

export const IMPORT_MAX_ENTRIES = 50;
/** Two of the largest logs, with every byte written as six (`\u003c`), and room for the rest. */
export const IMPORT_BODY_BYTES = 2 * 6 * ENTRY_MAX_BYTES + 512 * 1024;
/** What the browser puts into one request, unless a single log is larger. */
export const IMPORT_BATCH_CHARACTERS = 512 * 1024;

/** `replaces` is the version of the user's own day that gives way to this one; null where there is to be none. */
export type ImportEntry = ExportedEntry & { replaces: Version | null };

/** `changed`: there is a log where none was, or another than the one to be replaced. Nothing was written then. */
export type ImportOutcome =
  | { date: Day; outcome: 'written' | 'changed' }
  | { date: string; outcome: 'refused'; reason: Refusal };

export type ImportAnswer = { success: true; outcomes: ImportOutcome[] } | { success: false; error: string };

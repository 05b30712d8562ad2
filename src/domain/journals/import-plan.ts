/**
 * Compares imported days with the stored ones, so that the user decides before anything is written, and defines the
 * requests and responses of an import.
 */
import type { Day } from '../day/day.ts';
import { ENTRY_MAX_BYTES, type Version } from '../log/entry.ts';
import { entryText } from '../log/entry-text.ts';
import type { JournalDay } from './assemble-days.ts';
import { escapeHtml } from '../log/entry-html.ts';
import type { ExportedEntry, Refusal } from '../exported-entry.ts';

export const OWN_PROGRAM = 'Hustle Forge';

/** An import of more days is rejected. These are the days of 109 years. */
export const IMPORT_MAX_DAYS = 40_000;

/** The current version on the server. `content` has no date header. */
export type ExistingDay = Version & { date: Day; content: string; hasFeedback: boolean };

/**
 * `feedback`: the text is the same, and only the file has feedback. `locked`: the day has a log that the plan does not
 * open, so it stays as it is.
 */
export type Verdict = 'new' | 'same' | 'feedback' | 'differs' | 'locked';
export type Choice = 'mine' | 'file' | 'both';

/** Separates the stored version and the file's version of a merged day. */
const separatorOf = (program: string): string =>
  `<h3>${program === OWN_PROGRAM ? 'From the imported file' : `From ${escapeHtml(program)}`}</h3>`;

/** Reads a no-break space as a space: an earlier import may have stored the character instead of `&nbsp;`. */
const wordsOf = (html: string): string => entryText(html).replaceAll('\u00A0', ' ');

export function compareDays(imported: JournalDay, stored: ExistingDay | undefined, program: string): Verdict {
  if (!stored) return 'new';
  const isSame = imported.exact
    ? stored.content === imported.content
    : wordsOf(stored.content) === wordsOf(imported.content);
  if (isSame) return imported.coach && !stored.hasFeedback ? 'feedback' : 'same';
  // An earlier import has merged both versions already. The server may have changed the HTML, but not the words.
  const merged = separatorOf(program) + imported.content;
  return stored.content.endsWith(merged) || wordsOf(stored.content).endsWith(`\n${wordsOf(merged)}`)
    ? 'same'
    : 'differs';
}

/** The request item for a day; null if there is nothing to write. */
export function buildImportEntry(
  imported: JournalDay,
  stored: ExistingDay | undefined,
  verdict: Verdict,
  choice: Choice,
  program: string,
): ImportEntry | null {
  const { date, content } = imported;
  const coach = imported.coach ?? { hustleScore: null, feedback: null, analyzedAt: null };
  const replaces = stored ? { id: stored.id, revision: stored.revision } : null;
  switch (verdict) {
    case 'same':
    case 'locked':
      return null;
    case 'new':
      return { date, content, ...coach, replaces };
    case 'feedback':
      return { date, content: stored!.content, ...coach, replaces };
    case 'differs': {
      if (choice === 'mine') return null;
      if (choice === 'file') return { date, content, ...coach, replaces };
      // Feedback refers to one of the two versions, so the merged day has none.
      const noFeedback = { hustleScore: null, feedback: null, analyzedAt: null };
      return { date, content: stored!.content + separatorOf(program) + content, ...noFeedback, replaces };
    }
  }
}

// The requests and responses of the functions `import-entries`, `list-imports` and `undo-import`.

/** Maximum number of days in a request. */
export const IMPORT_MAX_ENTRIES = 50;
/**
 * Maximum size of a request: two logs of maximum size, of which JSON may escape each byte as six (`\u003c`), and 512 KB
 * for the other fields.
 */
export const IMPORT_BODY_BYTES = 2 * 6 * ENTRY_MAX_BYTES + 512 * 1024;
/**
 * Maximum size of the browser's requests in UTF-8, below the megabyte that proxies accept by default. A day that is
 * larger is sent in a request of its own.
 */
export const IMPORT_REQUEST_BYTES = 900_000;

/** `replaces` is the stored version to overwrite (optimistic lock); null if the day must not exist. */
export type ImportEntry = ExportedEntry & { replaces: Version | null };

/** `changed`: the stored day does not match `replaces`, so nothing was written. */
export type ImportOutcome =
  | { date: Day; outcome: 'written' | 'changed' }
  | { date: string; outcome: 'refused'; reason: Refusal };

export type ImportAnswer = { success: true; outcomes: ImportOutcome[] } | { success: false; error: string };

/** How many of a user's latest imports can be undone, each for `VERSION_DAYS` (log/entry.ts). */
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

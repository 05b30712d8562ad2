/** Compares imported days with the stored ones, so that the user can decide before anything is written. */
import type { Day } from '../day/day.ts';
import type { Version } from '../log/entry.ts';
import { entryText } from '../log/entry-text.ts';
import type { ImportedDay, Refusal } from './exported-entry.ts';
import type { ImportEntry } from './import-wire.ts';

/** Bounds the memory: the browser reads the whole file. Ten years of logs of 2 KB a day are about 7 MB. */
export const IMPORT_FILE_MAX_BYTES = 64 * 1024 * 1024;
/** A file with more days is rejected. The limit is the days of more than a hundred years. */
export const IMPORT_MAX_DAYS = 40_000;

export const FILE_PROBLEMS = {
  tooLarge: 'This file is larger than 64 MB. Choose an export of Hustle Forge.',
  notText: 'This is not a text file. Choose the JSON, Markdown or plain text file of an export.',
  broken: 'This file is damaged: its JSON cannot be read. Download the export again, or use its text file.',
  notRecognised: 'We found no logs in this file. Choose the JSON, Markdown or plain text file of an export.',
  wrongVersion: 'This file was exported by a newer version of Hustle Forge and cannot be imported here.',
  tooManyDays: 'This file contains more than 40,000 days, which is the limit.',
} as const;
export type FileProblem = keyof typeof FILE_PROBLEMS;

export type RefusedDay = { label: string; reason: Refusal };

/** `exact`: the file contains the HTML (JSON), not only the text. */
export type ImportedFile = { exact: boolean; days: ImportedDay[]; refused: RefusedDay[] };

/** The current version on the server. `content` has no date header. */
export type ExistingDay = Version & { date: Day; content: string; hasFeedback: boolean };

/** `feedback`: the text is the same, and only the file has feedback. */
export type Verdict = 'new' | 'same' | 'feedback' | 'differs';
export type Choice = 'mine' | 'file' | 'both';

/** Separates the stored version and the file's version of a merged day. */
const SEPARATOR = '<h3>From the imported file</h3>';

export function compareDays(imported: ImportedDay, stored: ExistingDay | undefined, exact: boolean): Verdict {
  if (!stored) return 'new';
  const isSame = exact
    ? stored.content === imported.content
    : entryText(stored.content) === entryText(imported.content);
  if (isSame) return imported.coach && !stored.hasFeedback ? 'feedback' : 'same';
  // An earlier import has merged both versions already.
  return stored.content.endsWith(SEPARATOR + imported.content) ? 'same' : 'differs';
}

/** The request item for a day; null if there is nothing to write. */
export function buildImportEntry(
  imported: ImportedDay,
  stored: ExistingDay | undefined,
  verdict: Verdict,
  choice: Choice,
): ImportEntry | null {
  const { date, content } = imported;
  const coach = imported.coach ?? { hustleScore: null, feedback: null, analyzedAt: null };
  const replaces = stored ? { id: stored.id, revision: stored.revision } : null;
  switch (verdict) {
    case 'same':
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
      return { date, content: stored!.content + SEPARATOR + content, ...noFeedback, replaces };
    }
  }
}

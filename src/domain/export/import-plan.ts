/** What importing a file would do to the days that are already there: decided and shown before anything is written. */
import type { Day } from '../day/day.ts';
import type { Version } from '../log/entry.ts';
import { entryText } from '../log/entry-text.ts';
import type { ImportedDay, Refusal } from './exported-entry.ts';
import type { ImportEntry } from './import-wire.ts';

/** Larger files are not read: ten years of the largest logs anybody writes by hand are a tenth of it. */
export const IMPORT_FILE_MAX_BYTES = 64 * 1024 * 1024;
/** A hundred years, and a few days. */
export const IMPORT_MAX_DAYS = 40_000;

export const FILE_PROBLEMS = {
  tooLarge: 'This file is larger than 64 MB. No export of a journal is.',
  notText: 'This file is not a text. Choose the JSON, Markdown or plain text file of an export.',
  broken: 'This file is damaged: its JSON cannot be read. Download the export again, or try its text file.',
  notRecognised:
    'There are no logs in this file that we know how to read. Choose the JSON, Markdown or plain text file of an export.',
  wrongVersion: 'This file was written by a newer version of Hustle Forge than this one can read.',
  tooManyDays: 'This file holds more than 40,000 days. No journal does.',
} as const;
export type FileProblem = keyof typeof FILE_PROBLEMS;

export type RefusedDay = { label: string; reason: Refusal };

/** `exact`: the file says what the HTML was (JSON), and not only the words. */
export type ImportedFile = { exact: boolean; days: ImportedDay[]; refused: RefusedDay[] };

/** A day as it is stored now, without its date header. */
export type OwnDay = Version & { date: Day; content: string; hasFeedback: boolean };

/** `feedback`: the words are the same, and the file has what the coach said of them where nothing is kept here. */
export type Verdict = 'new' | 'same' | 'feedback' | 'differs';
export type Choice = 'mine' | 'file' | 'both';

/** Stands between the two versions of a day. The editor knows it as a heading. */
const SEPARATOR = '<h3>From the imported file</h3>';

export function verdictOf(day: ImportedDay, own: OwnDay | undefined, exact: boolean): Verdict {
  if (!own) return 'new';
  const isSame = exact ? own.content === day.content : entryText(own.content) === entryText(day.content);
  if (isSame) return day.coach && !own.hasFeedback ? 'feedback' : 'same';
  // Both are there already, from an earlier import.
  return own.content.endsWith(SEPARATOR + day.content) ? 'same' : 'differs';
}

/** What is sent to the server for a day; null where nothing is to be done. */
export function entryFor(
  day: ImportedDay,
  own: OwnDay | undefined,
  verdict: Verdict,
  choice: Choice,
): ImportEntry | null {
  const { date, content } = day;
  const coach = day.coach ?? { hustleScore: null, feedback: null, analyzedAt: null };
  const replaces = own ? { id: own.id, revision: own.revision } : null;
  switch (verdict) {
    case 'same':
      return null;
    case 'new':
      return { date, content, ...coach, replaces };
    case 'feedback':
      return { date, content: own!.content, ...coach, replaces };
    case 'differs': {
      if (choice === 'mine') return null;
      if (choice === 'file') return { date, content, ...coach, replaces };
      // What the coach said was said of one of the two, so none of it goes with both.
      const none = { hustleScore: null, feedback: null, analyzedAt: null };
      return { date, content: own!.content + SEPARATOR + content, ...none, replaces };
    }
  }
}

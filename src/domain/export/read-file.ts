/** Parses an import file: an export in JSON, Markdown or plain text. HTML exports cannot be imported. */
import type { Day } from '../day/day.ts';
import { ENTRY_MAX_BYTES } from '../log/entry.ts';
import { isEmptyLog } from '../log/entry-text.ts';
import type { ParsedDay, Refusal } from './exported-entry.ts';
import { IMPORT_MAX_DAYS } from './import-plan.ts';
import type { FileProblem, ImportedFile } from './import-plan.ts';
import { JSON_FORMAT, jsonEntriesOf, jsonFormatOf, readJson } from './formats/json-format.ts';
import { readDays } from './read-days.ts';

export class UnreadableFileError extends Error {
  override name = 'UnreadableFileError';
  readonly problem: FileProblem;
  constructor(problem: FileProblem) {
    super(problem);
    this.problem = problem;
  }
}

/**
 * Yields the number of parsed days after each day, so that the caller can yield to the main thread. `today` is the
 * user's. Throws an `UnreadableFileError`; a single bad day is only refused.
 */
export function* parseExportFile(text: string, today: Day): Generator<number, ImportedFile> {
  const { exact, reads } = readerOf(text.replace(/^\uFEFF/, ''));
  const file: ImportedFile = { exact, days: [], refused: [] };
  const dates = new Set<Day>();
  let count = 0;
  for (const read of reads) {
    count += 1;
    if (count > IMPORT_MAX_DAYS) throw new UnreadableFileError('tooManyDays');
    const refusal = refusalOf(read, dates, today);
    if (refusal) file.refused.push(refusal);
    else if (read.kind === 'day') {
      dates.add(read.day.date);
      file.days.push(read.day);
    }
    yield count;
  }
  if (count === 0) throw new UnreadableFileError('notRecognised');
  return file;
}

function readerOf(text: string): { exact: boolean; reads: Iterable<ParsedDay> } {
  if (/^\s*[{[]/.test(text)) return { exact: true, reads: readJson(jsonEntries(text)) };
  return { exact: false, reads: readDays(text) };
}

function jsonEntries(text: string): readonly unknown[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new UnreadableFileError('broken');
  }
  const format = jsonFormatOf(file);
  const entries = jsonEntriesOf(file);
  if (format === null || entries === null) throw new UnreadableFileError('notRecognised');
  if (format !== JSON_FORMAT) throw new UnreadableFileError('wrongVersion');
  if (entries.length > IMPORT_MAX_DAYS) throw new UnreadableFileError('tooManyDays');
  if (entries.length === 0) throw new UnreadableFileError('notRecognised');
  return entries;
}

function refusalOf(read: ParsedDay, dates: ReadonlySet<Day>, today: Day): { label: string; reason: Refusal } | null {
  if (read.kind === 'refused') return read;
  const { date, content } = read.day;
  const refuse = (reason: Refusal) => ({ label: date, reason });
  if (date > today) return refuse('futureDay');
  if (dates.has(date)) return refuse('duplicateDay');
  if (byteLength(content) > ENTRY_MAX_BYTES) return refuse('tooLong');
  return isEmptyLog(content) ? refuse('empty') : null;
}

/**
 * The UTF-8 length, without `TextEncoder` or `Buffer`, which the domain layer must not use. Returns the length in
 * UTF-16 units for a text that is too short to exceed `ENTRY_MAX_BYTES`.
 */
function byteLength(text: string): number {
  if (text.length * 3 <= ENTRY_MAX_BYTES) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each surrogate of a pair counts for two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x8_00 || (unit >= 0xd8_00 && unit < 0xe0_00) ? 2 : 3;
  }
  return bytes;
}

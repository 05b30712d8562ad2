/**
 * Reads the text of an imported file, whichever format it is in, step by step: whoever calls it can give the screen a turn
 * after every day. Whatever is in the file, the outcome is days, refused days, or one of the named problems.
 */
import type { Day } from '../day/day.ts';
import { ENTRY_MAX_BYTES } from '../log/entry.ts';
import { isEmptyLog } from '../log/entry-text.ts';
import type { ReadDay, Refusal } from './exported-entry.ts';
import { IMPORT_MAX_DAYS } from './import-plan.ts';
import type { FileProblem, ImportedFile } from './import-plan.ts';
import { JSON_FORMAT, jsonEntriesOf, jsonFormatOf, readJson } from './json-format.ts';
import { readMarkdown } from './markdown-format.ts';
import { readText } from './text-format.ts';

export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
  readonly problem: FileProblem;
  constructor(problem: FileProblem) {
    super(problem);
    this.problem = problem;
  }
}

/** Yields how many days it has read. Throws an `UnreadableFile`. `today` is the reader's own. */
export function* readFile(text: string, today: Day): Generator<number, ImportedFile> {
  const { exact, reads } = readerOf(text.replace(/^\uFEFF/, ''));
  const file: ImportedFile = { exact, days: [], refused: [] };
  const dates = new Set<Day>();
  let count = 0;
  for (const read of reads) {
    count += 1;
    if (count > IMPORT_MAX_DAYS) throw new UnreadableFile('tooManyDays');
    const refusal = refusalOf(read, dates, today);
    if (refusal) file.refused.push(refusal);
    else if (read.kind === 'day') {
      dates.add(read.day.date);
      file.days.push(read.day);
    }
    yield count;
  }
  if (count === 0) throw new UnreadableFile('notRecognised');
  return file;
}

function readerOf(text: string): { exact: boolean; reads: Iterable<ReadDay> } {
  if (/^\s*[{[]/.test(text)) return { exact: true, reads: readJson(jsonEntries(text)) };
  // Both are tried: which one it is shows in the first heading of a day, whatever stands above it.
  const markdown = /^# [A-Z][a-z]+day - /m.test(text);
  return { exact: false, reads: markdown ? readMarkdown(text) : readText(text) };
}

function jsonEntries(text: string): readonly unknown[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new UnreadableFile('broken');
  }
  const format = jsonFormatOf(file);
  const entries = jsonEntriesOf(file);
  if (format === null || entries === null) throw new UnreadableFile('notRecognised');
  if (format !== JSON_FORMAT) throw new UnreadableFile('wrongVersion');
  if (entries.length > IMPORT_MAX_DAYS) throw new UnreadableFile('tooManyDays');
  if (entries.length === 0) throw new UnreadableFile('notRecognised');
  return entries;
}

function refusalOf(read: ReadDay, dates: ReadonlySet<Day>, today: Day): { label: string; reason: Refusal } | null {
  if (read.kind === 'refused') return read;
  const { date, content } = read.day;
  const refuse = (reason: Refusal) => ({ label: date, reason });
  if (date > today) return refuse('futureDay');
  if (dates.has(date)) return refuse('duplicateDay');
  if (byteLength(content) > ENTRY_MAX_BYTES) return refuse('tooLong');
  return isEmptyLog(content) ? refuse('empty') : null;
}

/** In UTF-8. Counted by hand, because the domain knows neither Node's nor the browser's encoders. */
function byteLength(text: string): number {
  if (text.length * 3 <= ENTRY_MAX_BYTES) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each half of a surrogate pair counts two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x8_00 || (unit >= 0xd8_00 && unit < 0xe0_00) ? 2 : 3;
  }
  return bytes;
}

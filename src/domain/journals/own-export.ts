/** Our own exports in JSON, Markdown and plain text. HTML exports cannot be imported. */
import type { Day } from '../day/day.ts';
import type { ParsedDay } from '../export/exported-entry.ts';
import { JSON_FORMAT, jsonEntriesOf, jsonFormatOf, readJson } from '../export/formats/json-format.ts';
import { OWN_PROGRAM } from '../export/import-plan.ts';
import type { JournalEntry, JournalReader, Skipped, SkipReason } from './journal-reader.ts';
import { readEachFile, skip } from './source-files.ts';
import { MARKDOWN_DAY, readMarkdown } from '../export/formats/read-markdown.ts';
import { readText, TEXT_DAY } from '../export/formats/text-format.ts';

const JSON_START = /^\uFEFF?\s*\{\s*"format"\s*:\s*"hustle-forge\//;

export const ownExport: JournalReader = {
  program: OWN_PROGRAM,
  async detect(files, peek) {
    if (files.length !== 1) return 0;
    const start = await peek(files[0]!);
    return JSON_START.test(start) || dayFormatOf(start) !== null ? 1 : 0;
  },
  async *read(files, context) {
    const dates = new Set<Day>();
    yield* readEachFile(files, context, function* readExport(file, text) {
      const isJson = /^\uFEFF?\s*[{[]/.test(text);
      const problem = isJson ? problemOf(text) : null;
      if (problem !== null) yield skip(file.path, problem);
      else
        for (const read of isJson ? readJson(jsonEntriesOf(parseJson(text)) ?? []) : readDays(text))
          yield toItem(read, isJson, dates);
    });
  },
};

function problemOf(text: string): SkipReason | null {
  const file = parseJson(text);
  if (file === undefined) return 'broken';
  const format = jsonFormatOf(file);
  return format !== null && format !== JSON_FORMAT ? 'newerVersion' : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

function toItem(read: ParsedDay, exact: boolean, dates: Set<Day>): JournalEntry | Skipped {
  if (read.kind === 'refused') return skip(read.label, read.reason);
  const { date, content, coach } = read.day;
  if (dates.has(date)) return skip(date, 'duplicateDay');
  dates.add(date);
  const body = { format: 'log', text: content, exact } as const;
  return { kind: 'entry', day: date, time: null, title: null, body, source: date, pictures: 0, coach };
}

/** Null for any other text. `text` may be the beginning of a file. */
export function dayFormatOf(text: string): 'markdown' | 'text' | null {
  const [markdown, plain] = [MARKDOWN_DAY, TEXT_DAY].map((day) => day.exec(text)?.index ?? Infinity);
  // The first day decides, because a log may contain the heading of the other format. Text above it is ignored.
  return markdown === plain ? null : markdown! < plain! ? 'markdown' : 'text';
}

/** Reads the days of our own Markdown or plain text export. Yields nothing for any other text. */
export const readDays = (text: string): Iterable<ParsedDay> =>
  dayFormatOf(text) === 'markdown' ? readMarkdown(text) : readText(text);

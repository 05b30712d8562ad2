/** Our own exports in JSON, Markdown and plain text. HTML exports cannot be imported. */
import type { Day } from '../day/day.ts';
import { refuseDay, DAY_HEADING, parseDayHeading, type ParsedDay } from '../exported-entry.ts';
import { JSON_FORMAT, jsonEntriesOf, jsonFormatOf, readJson } from '../export/formats/json-format.ts';
import { OWN_PROGRAM } from './import-plan.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SkipReason,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { readText, TEXT_DAY } from '../export/formats/text-format.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';

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

/** The format of our own text export; null for any other text. `text` may be the beginning of a file. */
export function dayFormatOf(text: string): 'markdown' | 'text' | null {
  const [markdown, plain] = [MARKDOWN_DAY, TEXT_DAY].map((day) => day.exec(text)?.index ?? Infinity);
  // The first day decides, because a log may contain the heading of the other format. Text above it is ignored.
  return markdown === plain ? null : markdown! < plain! ? 'markdown' : 'text';
}

/** Reads the days of our own Markdown or plain text export. Yields nothing for any other text. */
export const readDays = (text: string): Iterable<ParsedDay> =>
  dayFormatOf(text) === 'markdown' ? readMarkdown(text) : readText(text);

/** A first-level heading: `# Day`, `# **Day** #`, or the day above a line of `=`. */
const HEADING = new RegExp(`^# +[*_]*(${DAY_HEADING})[*_]*[ \\t]*#*[ \\t]*$`);
const UNDERLINED = new RegExp(`^${DAY_HEADING}[ \\t]*$`);
const UNDERLINE = /^=+[ \t]*$/;
/** Finds the first day in a file. */
const MARKDOWN_DAY = new RegExp(`${HEADING.source}|${UNDERLINED.source}(?:\\r\\n|\\r|\\n)${UNDERLINE.source}`, 'm');
/**
 * Matches no indented fence, which may close a code block in a list item. A day's heading in that block is indented,
 * so `HEADING` does not match it.
 */
const FENCE = /^(`{3,}(?!.*`)|~{3,})/;

/** Lazy: converts a day when the caller asks for it. Yields nothing for a text that is not an export. */
export function* readMarkdown(text: string): Generator<ParsedDay> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const fences = new Fences(lines);
  let label: string | null = null;
  let from = 0;
  for (let index = 0; index < lines.length; index += 1) {
    index = fences.endOf(index) ?? index;
    const line = lines[index]!;
    const isUnderlined = UNDERLINE.test(lines[index + 1] ?? '') && UNDERLINED.test(line);
    const heading = isUnderlined ? line : HEADING.exec(line)?.[1];
    if (heading === undefined) continue;
    if (label !== null) yield readDay(label, lines.slice(from, index));
    label = heading;
    if (isUnderlined) index += 1;
    from = index + 1;
  }
  if (label !== null) yield readDay(label, lines.slice(from));
}

function readDay(label: string, lines: readonly string[]): ParsedDay {
  const date = parseDayHeading(label);
  if (date === null) return refuseDay(label, 'invalidDate');
  const content = parseMarkdown(lines.join('\n'), { softBreaks: 'join', topHeading: 2 });
  return { kind: 'day', day: { date, content, coach: null } };
}

/** Finds the ends of code blocks, in which a day's heading does not count. */
class Fences {
  readonly #lines: readonly string[];
  /** The length of the shortest unclosed fence, by its character: a longer one is unclosed too. Keeps the search linear. */
  readonly #unclosed = new Map<string, number>();

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** Null if the line opens no code block, or one without an end: then the days below it would be lost. */
  endOf(index: number): number | null {
    const fence = FENCE.exec(this.#lines[index]!)?.[1];
    if (fence === undefined || fence.length >= (this.#unclosed.get(fence[0]!) ?? Infinity)) return null;
    const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`);
    for (let end = index + 1; end < this.#lines.length; end += 1) if (closing.test(this.#lines[end]!)) return end;
    this.#unclosed.set(fence[0]!, fence.length);
    return null;
  }
}

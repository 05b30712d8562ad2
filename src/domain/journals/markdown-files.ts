/**
 * Markdown, Org mode and text files that are named by day (Obsidian's daily notes, Logseq's journals without their
 * graph), dated in front matter, or that contain dates as headings; and Bear's text bundles. A date is taken as it is
 * written; only a timestamp in UTC is converted to the user's zone.
 */
import { isDay } from '../day/day.ts';
import { splitFrontMatter, textProperty } from './front-matter.ts';
import {
  type JournalEntry,
  type JournalReader,
  type ReadContext,
  type Skipped,
  type SourceFile,
  distinctTitle,
  fileName,
  isHidden,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { markdownOfOrg } from './org-mode.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { parseTimestamp, withoutMidnight, type LocalTime } from './timestamps.ts';
import {
  findContext,
  findDate,
  resolveDates,
  type DateContext,
  type ResolvedDate,
  type WrittenDate,
} from './written-dates.ts';

const TEXT_FILE = /\.(?:md|markdown|mdown|txt|text|org)$|(?:^|\/)\d{8}$/i;
/** org-journal names a day's file by eight digits alone. */
const isOrg = ({ path }: SourceFile): boolean => /(?:\.org|(?:^|\/)\d{8})$/i.test(path);
const BUNDLE = /(?:^|\/)([^/]+)\.(?:textbundle|textpack)\/text\.\w+$/i;

const isText = (file: SourceFile): boolean => TEXT_FILE.test(file.path) && !isHidden(file);
const isInTrash = ({ path }: SourceFile): boolean => /(?:^|\/)\.trash\//.test(path);
const isTemplate = ({ path }: SourceFile): boolean =>
  /(?:^|\/)[^/]*\b_?templates?\/|(?:^|\/)templates?[^/]*\.\w+$/i.test(path);
/** Placeholders of Obsidian's templates and of Templater. */
const PLACEHOLDER = /<%[^]*?%>|\{\{\s*(?:date|title|time)\b[^{}]*\}\}/i;

const nameOf = (file: SourceFile): string => BUNDLE.exec(file.path)?.[1] ?? fileName(file);

/** The year and month in the names of a file's folders: `2024/05-May/`. */
function contextOf({ path }: SourceFile): DateContext {
  let context: DateContext = {};
  for (const folder of path.split('/').slice(0, -1)) context = findContext(folder, context) ?? context;
  return context;
}

/** The day of the month at the start of a name, if the folders give year and month: `2024/05/01 Wed.md`. */
function dayInMonth(name: string, { year, month }: DateContext): WrittenDate | null {
  const number = /^(\d{1,2})(?!\d)/.exec(name)?.[1];
  if (number === undefined || year === undefined || month === undefined) return null;
  return findDate(`${year}-${month}-${number.padStart(2, '0')}${name.slice(number.length)}`);
}

/** The date in the name of the file, or else of its folder: `2024-05-01/notes.md`. */
function dateInName(file: SourceFile): WrittenDate | null {
  const context = contextOf(file);
  const name = nameOf(file);
  const inName = findDate(name, context) ?? dayInMonth(name, context);
  if (inName) return inName;
  const folder = file.path.split('/').at(-2) ?? '';
  const inFolder = findDate(folder) ?? dayInMonth(folder, context);
  return inFolder && inFolder.rest === '' ? { ...inFolder, rest: titleOfName(file) } : null;
}

/** `detect` peeks into so many files at most: a folder can have 50,000. */
const MAX_PEEKS = 5;

export const markdownFiles: JournalReader = {
  program: 'Markdown or text files',
  programOf: (files) => (files.some(({ path }) => /(?:^|\/)\.obsidian\//.test(path)) ? 'Obsidian' : null),
  async detect(files, peek) {
    const texts = files.filter(isText);
    const named = texts.filter((file) => dateInName(file) !== null).length;
    if (named > 0) return named * 3 >= texts.length ? 0.6 : 0.4;
    if (texts.some(({ path }) => BUNDLE.test(path))) return 0.6;
    for (const file of texts.slice(0, MAX_PEEKS)) {
      const { properties, body } = splitFrontMatter(asMarkdown(file, await peek(file)));
      if (dateOfProperties(properties, 'UTC') || splitAtDates(body, contextOfFile(file)).sections.length > 0)
        return 0.3;
    }
    return 0;
  },
  owns: () => (file) => /\.textbundle\//i.test(file.path),
  async *read(files, context) {
    const texts = files.filter((file) => isText(file) || (isInTrash(file) && TEXT_FILE.test(file.path)));
    const inName = new Map<SourceFile, WrittenDate>();
    for (const file of texts) {
      const date = dateInName(file);
      if (date) inName.set(file, date);
    }
    const resolved = resolveDates([...inName.values()], false);
    const days = new Map([...inName.keys()].map((file, index) => [file, resolved[index]!]));
    const bundles = await readBundles(files, context);
    yield* readEachFile(texts, context, (file, text) =>
      readFile(
        {
          file,
          text: asMarkdown(file, text),
          date: inName.get(file),
          day: days.get(file),
          bundle: bundles.get(folderOf(file)),
        },
        context,
      ),
    );
  },
};

const asMarkdown = (file: SourceFile, text: string): string => (isOrg(file) ? markdownOfOrg(text) : text);

const contextOfFile = (file: SourceFile): DateContext => findContext(nameOf(file), contextOf(file)) ?? contextOf(file);

const folderOf = ({ path }: SourceFile): string => path.replace(/[^/]*$/, '');

type Bundle = Readonly<Record<string, unknown>>;

/** Bear's `info.json` by the folder of its bundle. */
async function readBundles(
  files: readonly SourceFile[],
  { decode }: ReadContext,
): Promise<ReadonlyMap<string, Bundle>> {
  const bundles = new Map<string, Bundle>();
  for (const file of files.filter(({ path }) => /\.textbundle\/info\.json$/i.test(path)))
    try {
      const info = JSON.parse(await decode(file)) as Record<string, unknown>;
      bundles.set(folderOf(file), Object(info['net.shinyfrog.bear'] ?? info) as Bundle);
    } catch {
      // The text of the bundle is readable without it.
    }
  return bundles;
}

const DATE_PROPERTIES = [
  'date',
  'day',
  'journal',
  'journal-date',
  'created',
  'created_at',
  'createdat',
  'created-at',
  'creation-date',
  'creation date',
  'date created',
  'date_created',
  'datecreated',
  'created date',
];

function dateOfProperties(
  properties: ReadonlyMap<string, unknown>,
  zone: string,
): LocalTime | { day: LocalTime['day']; time: null } | null {
  const value = withoutMidnight(textProperty(properties, DATE_PROPERTIES) ?? '');
  if (value === '') return null;
  const time = parseTimestamp(value, zone);
  if (time) return /\d[T ]\d/.test(value) ? time : { day: time.day, time: null };
  const written = findDate(value.replace(/^"?\[\[|\]\]"?$/g, ''));
  const [resolved] = written ? resolveDates([written], false) : [];
  return resolved && 'day' in resolved ? { day: resolved.day, time: null } : null;
}

type Source = {
  file: SourceFile;
  text: string;
  date: WrittenDate | undefined;
  day: ResolvedDate | undefined;
  bundle: Bundle | undefined;
};

function* readFile(
  { file, text, date, day, bundle }: Source,
  { zone }: ReadContext,
): Generator<JournalEntry | Skipped> {
  const source = file.path;
  if (isInTrash(file) || isSet(bundle, 'trashed')) return yield skip(source, 'trashed');
  if (isSet(bundle, 'encrypted')) return yield skip(source, 'encrypted');
  const isMarkdown = !/\.(?:txt|text)$/i.test(source);
  const { properties, body } = isMarkdown
    ? splitFrontMatter(text)
    : { properties: new Map<string, unknown>(), body: text.replace(/^\uFEFF/, '') };
  const entry = (
    at: { day: LocalTime['day']; time: string | null },
    title: string,
    content: string,
    label = source,
  ): JournalEntry => {
    const plain = isMarkdown ? plainMarkdown(content, { isVault: true }) : { text: content, pictures: 0 };
    const ofDay = withoutDayHeading(plain.text.trim(), at.day);
    return {
      kind: 'entry',
      ...at,
      title: distinctTitle(title === '' ? null : title, ofDay),
      body: { format: isMarkdown ? 'markdown' : 'text', text: ofDay },
      source: label,
      pictures: plain.pictures,
    };
  };
  const stored = dateOfProperties(properties, zone);
  const titleProperty = textProperty(properties, ['title']) ?? '';
  const title = titleProperty !== '' && findDate(titleProperty)?.rest !== '' ? titleProperty : '';
  if (date && day) {
    if ('reason' in day) return yield skip(source, day.reason);
    if (PLACEHOLDER.test(body) && isTemplate(file)) return yield skip(source, 'template');
    const time = date.time ?? (stored?.day === day.day ? stored.time : null);
    return yield entry({ day: day.day, time }, title === '' ? date.rest : title, body);
  }
  if (isTemplate(file)) return yield skip(source, 'template');
  const name = titleOfName(file);
  if (stored) return yield entry(stored, title === '' ? name : title, body);
  const { before, sections } = splitAtDates(body, contextOfFile(file));
  const created = parseTimestamp(bundle?.['creationDate'], zone);
  if (sections.length === 0 && created) return yield entry(created, title === '' ? name : title, body);
  if (sections.length === 0) return yield skip(source, body.trim() === '' ? 'empty' : 'noDate');
  if (before.split('\n').some((line) => !/^\s*(?:#.*)?$/.test(line)))
    yield skip(`${source}, before the first date`, 'noDate');
  const resolved = resolveDates(
    sections.map((section) => section.date),
    true,
  );
  for (const [index, section] of sections.entries()) {
    const at = resolved[index]!;
    const label = `${source}, date ${index + 1}`;
    yield 'day' in at
      ? entry({ day: at.day, time: section.date.time }, section.title, section.text, label)
      : skip(label, at.reason);
  }
}

const isSet = (bundle: Bundle | undefined, name: string): boolean => bundle !== undefined && Boolean(bundle[name]);

/** The name of the file as a title. Empty for a name without letters. */
const titleOfName = (file: SourceFile): string => (/\p{L}/u.test(nameOf(file)) ? nameOf(file) : '');

/** Removes a first line that is only the date: the page of the day shows it already. */
function withoutDayHeading(text: string, day: LocalTime['day']): string {
  const [first = ''] = text.split('\n', 1);
  const written = first.length <= 100 ? findDate(first.replace(/^[#*\s_]+|[#*\s_]+$/g, '')) : null;
  const isSame =
    written?.rest === '' && written.time === null && isDay(day) && [...written.readings.values()].includes(day);
  return isSame
    ? text
        .slice(first.length)
        .replace(/^\n(?:[=-]{2,}[ \t]*(?:\n|$))?/, '')
        .trimStart()
    : text;
}

type Section = { date: WrittenDate; title: string; text: string };

type DatedText = {
  /** The text above the first date. */
  before: string;
  sections: Section[];
};

type Heading = { text: string; level: number; lines: number };

const FENCE = /^[\s>]*(?:[-*+] )?(`{3,}|~{3,})/;
/** Longer lines are sentences, not headings. */
const MAX_HEADING = 200;

/** `Date: 2024-05-01` above an entry. */
const DATE_LABEL = /^(?:date|datum|fecha|data|dato|дата|日付|日期)[ \t]*[:：][ \t]*/i;

/** `level`: 1 to 6 for Markdown's headings, 7 for a bold line, 8 for any other, which may be nothing but a date. */
function headingAt(lines: readonly string[], at: number): Heading | null {
  const line = lines[at]!;
  if (line.length > MAX_HEADING || line.trim() === '') return null;
  const atx = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line);
  if (atx) return { text: atx[2]!, level: atx[1]!.length, lines: 1 };
  const below = lines[at + 1]?.trim() ?? '';
  const isAfterBlank = at === 0 || lines[at - 1]!.trim() === '';
  if (isAfterBlank && /^(?:={2,}|-{2,})$/.test(below) && /^ {0,3}[^\s>*+-]/.test(line))
    return { text: line, level: below.startsWith('=') ? 1 : 2, lines: 2 };
  const bold = /^(\*\*|__)(.+)\1:?\s*$/.exec(line);
  return bold ? { text: bold[2]!, level: 7, lines: 1 } : { text: line.replace(DATE_LABEL, ''), level: 8, lines: 1 };
}

/** The year or month that a heading names, or null: `1. Mai 2024` is a day, `05 - May` below a year the fifth month. */
function contextAt(text: string, place: DateContext, written: WrittenDate | null): DateContext | null {
  const context = findContext(text, place);
  const isDate = written?.isFirst === true && written.rest === '';
  const isNumbered = /^(?:0\d\s|\d{1,2}\s*[-_])(?!.*\d{4})/.test(text);
  return isDate && !(isNumbered && Number.parseInt(text, 10) === Number(context?.month)) ? null : context;
}

/** The day of the month alone, below a heading of its month: `1`, `Wed 1`, `1st`. */
function dayOfMonth(text: string, { year, month }: DateContext): WrittenDate | null {
  if (year === undefined || month === undefined) return null;
  const number = /^(?:\p{L}+[.,]?\s+)?(\d{1,2})(?:st|nd|rd|th|\.)?(?:[\s,]+\p{L}+\.?)?$/u.exec(text.trim())?.[1];
  return number === undefined ? null : findDate(`${year}-${month}-${number.padStart(2, '0')}`);
}

/**
 * Splits a text at headings that are dates: `# 2024-05-01`, a setext heading, a bold line, or a line of its own.
 * `context`: the year and month in the names of the file and its folders.
 */
function splitAtDates(source: string, context: DateContext = {}): DatedText {
  const lines = source.split(/\r\n?|\n/);
  const sections: Section[] = [];
  const before: string[] = [];
  let place = context;
  let body = before;
  let dayLevel: number | null = null;
  let fence: string | null = null;
  const bodies: string[][] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    const heading = fence === null && mark === undefined ? headingAt(lines, at) : null;
    const written = heading && findDate(heading.text, place);
    const inPlace = heading && heading.level < 8 ? contextAt(heading.text, place, written) : null;
    const date = heading && !inPlace ? (written ?? dayOfMonth(heading.text, heading.level < 8 ? place : {})) : null;
    // A deeper heading with a date belongs to the day's text, and so does a sentence that begins with one.
    const isDayHeading =
      heading !== null &&
      date?.isFirst === true &&
      heading.level <= (dayLevel ?? 8) &&
      (heading.level < 7 || date.rest === '');
    if (isDayHeading) {
      dayLevel ??= heading.level;
      body = [];
      bodies.push(body);
      sections.push({ date, title: date.rest, text: '' });
      at += heading.lines - 1;
    } else if (inPlace && heading!.level < (dayLevel ?? 8)) {
      place = inPlace;
      body = before;
      at += heading!.lines - 1;
    } else body.push(line);
  }
  return {
    before: before.join('\n').trim(),
    sections: sections.map((section, index) => ({ ...section, text: bodies[index]!.join('\n').trim() })),
  };
}

/**
 * Tables with a column of dates and one of texts: the CSV of Daylio, trackers and spreadsheets, and lists of objects in
 * JSON. Daylio writes the local day; before 2020 it had a separate column for the year.
 */
import { normalizeText } from '../log/text-to-log.ts';
import { type Fields, fieldsOf, listOf, titleOf } from './json-fields.ts';
import { parseTimestamp, withoutMidnight } from './timestamps.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  isJson,
  jsonStarts,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { findDate, resolveDates } from './written-dates.ts';

const isTable = ({ path }: Pick<SourceFile, 'path'>): boolean => /\.(?:csv|tsv)$/i.test(path);
/** JSON Lines: an object on each line. */
const hasLines = ({ path }: SourceFile): boolean => /\.(?:jsonl|ndjson)$/i.test(path);

/** The names of a column, most preferred first. `createdAt` and `created_at` match "created at". */
const names = (list: string): readonly string[] => list.split(',');
const DATE = names(
  'full date,date,day,entry date,journal date,datum,tag,fecha,día,data,giorno,jour,dato,дата,日付,日期,날짜,' +
    'datetime,date time,date/time,timestamp,date created,created,created at,created date,created time,creation date',
);
const TIME = names('time,time of day,uhrzeit,zeit,heure,hora,ora,tijd,время,時間,时间,시간');
const TITLE = names('note title,title,heading,subject,titel,titre,título,titolo,заголовок,タイトル,标题,제목');
const TEXT = names(
  'note,notes,text,entry,entry text,journal entry,journal text,journal,content,contents,body,log,description,comment,comments,details,' +
    'notiz,notizen,eintrag,inhalt,texte,contenu,texto,nota,notas,contenido,testo,tekst,текст,запись,内容,本文,내용',
);

type Columns = { year: number; date: number; time: number; title: number; text: number };

/** Null for a table that has no dates or no texts. */
function columnsOf(header: readonly string[]): Columns | null {
  const cells = header.map((cell) =>
    cell
      .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
      .replaceAll('_', ' ')
      .toLowerCase()
      .trim(),
  );
  const find = (list: readonly string[]): number => list.map((name) => cells.indexOf(name)).find((at) => at >= 0) ?? -1;
  const date = find(DATE);
  const other = cells.length === 2 && date >= 0 ? 1 - date : -1;
  const columns = { year: find(['year']), date, time: find(TIME), title: find(TITLE), text: find(TEXT) };
  const text = columns.text >= 0 ? columns.text : other;
  return date >= 0 && text >= 0 ? { ...columns, text } : null;
}

const isOfDaylio = (header: readonly string[]): boolean => header.includes('mood') && header.includes('activities');

export const datedRows: JournalReader = {
  program: 'CSV table',
  programOf: (files) => {
    if (files.some(({ path }) => /daylio[^/]*\.csv$/i.test(path))) return 'Daylio';
    return files.some(isTable) ? null : 'JSON list';
  },
  async detect(files, peek) {
    for (const file of files.filter(isTable).slice(0, 5)) {
      const [header = []] = parseTable(await peek(file)).rows;
      if (columnsOf(header)) return isOfDaylio(header) ? 0.9 : 0.5;
    }
    for await (const start of jsonStarts(files, peek)) if (startsWithTable(start)) return 0.3;
    const lines = files.find(hasLines);
    if (lines && startsWithTable(`[${await peek(lines)}`)) return 0.3;
    return 0;
  },
  read: (files, context) =>
    readEachFile(
      files.filter((file) => isTable(file) || isJson(file) || hasLines(file)),
      context,
      (file, text) => {
        if (isTable(file)) return readTable(file, parseTable(normalizeText(text)), context.zone);
        const tables = tablesOf(hasLines(file) ? `[${text.trim().replaceAll(/(?<!\s)\s*\n\s*/g, ',')}]` : text);
        if (tables.length === 0) return [skip(file.path, 'unknown')];
        return tables.flatMap((table) => [...readTable(file, table, context.zone)]);
      },
    ),
};

const DAY_NAME = /^\d{4}-\d{2}-\d{2}/;

/** True if the start of a JSON text looks like a list of objects with date and text, or like an object keyed by day. */
function startsWithTable(start: string): boolean {
  if (/^\s*\{\s*"\d{4}-\d{2}-\d{2}[^"]*"\s*:\s*["{]/.test(start)) return true;
  const object = /\[\s*(\{[^]*)/.exec(start)?.[1] ?? '';
  return columnsOf([...object.matchAll(/"([^"\\]{1,40})"\s*:/g)].map(([, name]) => name!)) !== null;
}

const MAX_JSON_DEPTH = 3;
/** Threat: many objects with a different member each would make the table grow with the square of the file. */
const MAX_COLUMNS = 200;

/** The lists of objects in JSON that have dates and texts, each as a table. */
function tablesOf(json: string): Table[] {
  return findLists(JSON.parse(json), MAX_JSON_DEPTH).map((list) => {
    const header = namesOf(list);
    const rows = list.map((row) => header.map((name) => cellOf(row[name])));
    return { rows: [header, ...rows], separator: ',', isCut: false };
  });
}

const namesOf = (rows: readonly Fields[]): string[] =>
  [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);

function findLists(value: unknown, depth: number): Fields[][] {
  const named = Object.entries(fieldsOf(value));
  const rows =
    named.length > 0 && named.every(([name]) => DAY_NAME.test(name))
      ? named.map(([date, entry]) => ({ date, ...(typeof entry === 'string' ? { text: entry } : fieldsOf(entry)) }))
      : listOf(value).map(entryOf);
  if (columnsOf(namesOf(rows))) return [rows];
  return depth === 0 ? [] : named.flatMap(([, inner]) => findLists(inner, depth - 1));
}

/** The fields of an object, or of its only member if that is an object. */
function entryOf(value: unknown): Fields {
  const [inner, ...others] = Object.values(fieldsOf(value));
  return others.length === 0 && typeof inner === 'object' ? fieldsOf(inner) : fieldsOf(value);
}

/** A text, a number, or a list of paragraphs. */
const cellOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.filter((item) => typeof item === 'string').join('\n')
    : typeof value === 'string' || typeof value === 'number'
      ? normalizeText(String(value))
      : '';

/** Seconds or milliseconds since 1970, or a time in UTC. */
const INSTANT = /^\d{9,13}$|\d[T ]\d.*(?:Z|UTC)$/i;

type Table = { rows: string[][]; separator: string; isCut: boolean };

function* readTable(
  file: SourceFile,
  { rows, separator, isCut }: Table,
  zone: string,
): Generator<JournalEntry | Skipped> {
  const columns = columnsOf(rows[0] ?? []);
  if (!columns) return yield skip(file.path, 'unknown');
  const found = rows.slice(1).map((row, index) => {
    const cells = joinText(row, rows[0]!.length, columns.text, separator);
    const cell = (name: keyof Columns): string => (cells[columns[name]] ?? '').trim();
    const written = withoutMidnight(cell('date'));
    const instant = INSTANT.test(written) ? parseTimestamp(written, zone) : null;
    const parts = instant ? [instant.day, instant.time] : [written, cell('year'), cell('time')];
    return {
      source: `${file.path}, ${isTable(file) ? `row ${index + 2}` : `entry ${index + 1}`}`,
      isBlank: cells.every((text) => text.trim() === ''),
      title: titleOf(cell('title')),
      text: cell('text'),
      date: findDate(parts.filter((part) => part !== '').join(' ')),
    };
  });
  const days = resolveDates(
    found.flatMap(({ date }) => date ?? []),
    true,
  );
  let at = 0;
  for (const [index, { source: row, isBlank, title, text, date }] of found.entries()) {
    const resolved = date ? days[at++]! : ({ reason: 'noDate' } as const);
    if (isBlank) continue;
    if (isCut && index === found.length - 1) yield skip(row, 'broken');
    else if ('reason' in resolved) yield skip(row, resolved.reason);
    else if (title === null && text === '') yield skip(row, 'empty');
    else
      yield {
        kind: 'entry',
        day: resolved.day,
        time: date!.time,
        title,
        body: TAG.test(text) ? { format: 'html', text: text.replaceAll('\n', '<br>') } : { format: 'text', text },
        source: row,
        pictures: 0,
      };
  }
}

/** Rejoins an unquoted text whose separators split it: such a row has more cells than the header (`width`). */
function joinText(cells: readonly string[], width: number, text: number, separator: string): readonly string[] {
  const extra = cells.findLastIndex((cell) => cell.trim() !== '') + 1 - width;
  if (extra <= 0) return cells;
  const end = text + extra + 1;
  return [...cells.slice(0, text), cells.slice(text, end).join(separator), ...cells.slice(end)];
}

/** Newer versions of Daylio write notes as HTML. */
const TAG = /<(?:br|b|i|u|s|p|div|span|strong|em|ul|ol|li|h[1-6])\b[^<>]*>/i;

/** `isCut`: the last cell has no closing quotation mark. Takes the separator that the first line has most of. */
function parseTable(source: string): Table {
  // A first line `sep=;` tells Excel the separator.
  const text = source.replace(/^\uFEFF?(?:sep=.\r?\n)?/i, '');
  const [first = ''] = text.split(/\r\n?|\n/, 1);
  const count = (sign: string): number => first.split(sign).length;
  const separator = [',', ';', '\t'].reduce((most, sign) => (count(sign) > count(most) ? sign : most));
  const rows: string[][] = [];
  let row: string[] = [];
  let isCut = false;
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)("|$))?([^${separator}\\r\\n]*)(${separator}|\\r\\n?|\\n|$)`, 'y');
  while (cell.lastIndex < text.length) {
    // Some programs write text behind the closing quotation mark.
    const [, quoted, close, bare = '', end]: RegExpExecArray = cell.exec(text)!;
    isCut = close === '';
    row.push((quoted ?? '').replaceAll('""', '"') + bare);
    if (end === separator) continue;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push([...row, '']);
  return { rows, separator, isCut };
}

/**
 * jrnl: the JSON export (`{ "tags", "entries": [{ "title", "body", "date", "time" }] }`), the YAML export (a file per
 * entry), and the journal itself or its text export (`[2024-01-08 19:00] Title`), in one file or a file per day.
 */
import { normalizeText } from '../log/text-to-log.ts';
import { fieldsOf, listOf, stringOf, titleOf } from './json-fields.ts';
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
import { findDate, resolveDates, type WrittenDate } from './written-dates.ts';

/** A journal often has no extension. */
const isText = ({ path }: SourceFile): boolean => /(?:\.(?:txt|journal|jrnl|md|markdown)|(?:^|\/)[^./]+)$/i.test(path);

/** Versions before 2 wrote neither `---` nor `body:`, and `stared` for `starred`. */
const YAML_HEAD = /^(?:---\r?\n)?title: .*\r?\ndate: .*\r?\nstarr?ed: .*\r?\ntags: .*(?:\r?\n|$)/;

/** Matches the tag counts, which may fill all that `peek` reads, or the start of the entries. */
const JSON_HEAD =
  /^\uFEFF?\s*\{\s*(?:"tags"\s*:\s*\{\s*(?:"[^"\n]+"\s*:\s*\d|\}\s*,\s*"entries"\s*:\s*\[)|"entries"\s*:\s*\[\s*\{(?=[^]*"body"\s*:)\s*"(?:title|body|date|time|starred)"\s*:)/;

export const jrnl: JournalReader = {
  program: 'jrnl',
  async detect(files, peek) {
    for await (const head of jsonStarts(files, peek)) if (JSON_HEAD.test(head)) return 0.9;
    if (files.some(isJson)) return 0;
    for (const file of files.filter(isText).slice(0, 3)) {
      const head = await peek(file);
      if (YAML_HEAD.test(head)) return 0.9;
      const [first = ''] = head
        .replace(/^\uFEFF/, '')
        .trimStart()
        .split(/\r\n?|\n/);
      if (entryHead(first)) return first.startsWith('[') ? 0.9 : 0.6;
      // A Fernet token or other Base64. Other programs write that too, so the name must be one of jrnl's.
      if (isEncrypted(head) && /\.(?:journal|jrnl)$|(?:^|\/)journal\.txt$/i.test(file.path)) return 0.5;
    }
    return 0;
  },
  async *read(files, context) {
    yield* readEachFile(files.filter(isJson), context, readJson);
    yield* readEachFile(files.filter(isText), context, readText);
  },
};

function* readJson({ path }: SourceFile, text: string): Generator<JournalEntry | Skipped> {
  const { entries } = fieldsOf(JSON.parse(text));
  if (!Array.isArray(entries)) yield skip(path, 'broken');
  const found = listOf(entries).map((entry) => {
    const fields = fieldsOf(entry);
    return { fields, date: findDate(`${stringOf(fields['date'])} ${stringOf(fields['time'])}`) };
  });
  const dates = found.map(({ date }) => date).filter((date) => date !== null);
  const days = resolveDates(dates, true);
  let at = 0;
  for (const [index, { fields, date }] of found.entries()) {
    const source = `${path}, entry ${index + 1}`;
    const resolved = date ? days[at++]! : null;
    if (!date || !resolved) yield skip(source, stringOf(fields['date']) === '' ? 'noDate' : 'invalidDate');
    else if ('reason' in resolved) yield skip(source, resolved.reason);
    else
      yield {
        kind: 'entry',
        day: resolved.day,
        time: date.time,
        title: titleOf(fields['title']),
        body: { format: 'markdown', text: stringOf(fields['body']) },
        source,
        pictures: 0,
      };
  }
}

const isEncrypted = (text: string): boolean => /^\s*(?:gAAAAA[\w-]{20}|[\w+/-]{60,}={0,2}\s*$)/.test(text);

type Head = { date: WrittenDate; title: string };

/** `[date time] title`, and without brackets before version 2. Null for other lines, such as `[1] a footnote`. */
function entryHead(line: string): Head | null {
  const [, inBrackets, bare, rest = ''] =
    /^(?:\[([^\]\n]{6,60})\]|(\d{1,4}[-./]\d{1,2}[-./]\d{1,4} \d{1,2}:\d{2}(?::\d{2})?(?: [AP]M)?))(?:[ \t]+(.*))?$/.exec(
      line,
    ) ?? [];
  const text = inBrackets ?? bare;
  const date = text === undefined ? null : findDate(text);
  // A time format with `%Z` adds the letters of the zone. They are ambiguous, so they are ignored.
  if (!date || !/^(?:[A-Z]{2,5})?$/.test(date.rest) || !date.isFirst) return null;
  // jrnl marks a starred entry with `*`.
  return { date, title: rest.replace(/^\*\s|\s\*$/, '').trim() };
}

function* readText({ path }: SourceFile, text: string): Generator<JournalEntry | Skipped> {
  if (isEncrypted(text)) {
    yield skip(path, 'encrypted');
    return;
  }
  if (YAML_HEAD.test(text)) {
    yield readYaml(path, text);
    return;
  }
  const before: string[] = [];
  const found: (Head & { line: number; lines: string[] })[] = [];
  for (const [index, line] of normalizeText(text).split('\n').entries()) {
    const head = entryHead(line);
    if (head) found.push({ ...head, line: index + 1, lines: [] });
    else (found.at(-1)?.lines ?? before).push(line);
  }
  if (before.join('').trim() !== '') yield skip(found.length === 0 ? path : `${path}, before the first date`, 'noDate');
  const days = resolveDates(
    found.map(({ date }) => date),
    true,
  );
  for (const [index, { date, title, line, lines }] of found.entries()) {
    const source = `${path}, line ${line}`;
    const resolved = days[index]!;
    const body = lines.join('\n').trim();
    if ('reason' in resolved) yield skip(source, resolved.reason);
    else if (title === '' && body === '') yield skip(source, 'empty');
    else
      yield {
        kind: 'entry',
        day: resolved.day,
        time: date.time,
        title: title === '' ? null : title,
        body: { format: 'markdown', text: body },
        source,
        pictures: 0,
      };
  }
}

/** The exporter writes titles without quotes, so this is not always YAML. The body is indented by tabs. */
function readYaml(path: string, text: string): JournalEntry | Skipped {
  const field = (name: string): string => new RegExp(String.raw`^${name}: (.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';
  const date = findDate(field('date'));
  if (!date) return skip(path, 'noDate');
  const resolved = resolveDates([date], false)[0]!;
  if ('reason' in resolved) return skip(path, resolved.reason);
  const [, indented] = /^body: \|([^]*)$/m.exec(text) ?? [];
  const body = indented?.replace(/\.\.\.\s*$/, '').replaceAll(/^\t{1,2}/gm, '') ?? text.replace(YAML_HEAD, '');
  return {
    kind: 'entry',
    day: resolved.day,
    time: date.time,
    title: titleOf(field('title')),
    body: { format: 'markdown', text: body.trim() },
    source: path,
    pictures: 0,
  };
}

/**
 * Day One: the JSON export (one file per journal, beside `photos`, `audios`, `videos` and `pdfs`), the packages of Day
 * One Classic (`entries/*.doentry`, property lists), and the plain text export.
 */
import { normalizeText } from '../log/text-to-log.ts';
import { fieldsOf, listOf, stringOf, type Fields } from './json-fields.ts';
import { entryTime } from './timestamps.ts';
import {
  type JournalEntry,
  type JournalReader,
  type ReadContext,
  type Skipped,
  type SourceFile,
  isJson,
  jsonStarts,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { decodeEntities, LineCollector, linesToHtml, type LineStyle, type RichText } from './markup.ts';
import { findDate, resolveDates, type WrittenDate } from './written-dates.ts';

const isClassic = ({ path }: SourceFile): boolean => /\.doentry$/i.test(path);
const isText = ({ path }: SourceFile): boolean => /\.(?:txt|md|text)$/i.test(path);

/** Fields of entries that only Day One writes. */
const ENTRY_FIELDS =
  /"(?:creationDate|creationDevice\w*|creationOS\w+|richText|isAllDay|editingTime|dayOneMoment)"\s*:/;

/** The name of an attachment is the MD5 of its content. */
const ATTACHMENT = /(?:^|\/)(?:photos|audios|videos|pdfs)\/[\da-f]{32}\.\w+$/;

export const dayOne: JournalReader = {
  program: 'Day One',
  async detect(files, peek) {
    if (files.some(isClassic)) return 0.95;
    for await (const head of jsonStarts(files, peek)) {
      if (!/"entries"\s*:\s*\[/.test(head)) continue;
      if (ENTRY_FIELDS.test(head)) return 0.95;
      // The head of the file may end within a long text, before any of these fields.
      if (files.some(({ path }) => ATTACHMENT.test(path))) return 0.8;
    }
    const [text] = files.filter(isText);
    return text && DATE_LINE.test(await peek(text)) ? 0.9 : 0;
  },
  owns: () => (file) => ATTACHMENT.test(file.path),
  read(files, context) {
    if (files.some(isClassic)) return readClassic(files, context);
    const json = files.filter(isJson);
    return json.length > 0
      ? readEachFile(json, context, (file, text) => readJournal(file, text, context))
      : readEachFile(files.filter(isText), context, readText);
  },
};

function* readJournal(file: SourceFile, text: string, { zone }: ReadContext): Generator<JournalEntry | Skipped> {
  const { entries } = fieldsOf(JSON.parse(text));
  if (!Array.isArray(entries)) yield skip(file.path, 'broken');
  for (const [index, entry] of listOf(entries).entries())
    yield readEntry(fieldsOf(entry), `${file.path}, entry ${index + 1}`, zone);
}

function readEntry(entry: Fields, source: string, zone: string): JournalEntry | Skipped {
  const { creationDate, timeZone, location, text, richText } = entry;
  if (stringOf(creationDate) === '') return skip(source, 'noDate');
  const local = entryTime(creationDate, timeZone ?? fieldsOf(location)['timeZoneName'], zone);
  if (!local) return skip(source, 'invalidDate');
  const attached = ['photos', 'audios', 'videos', 'pdfAttachments']
    .map((name) => listOf(entry[name]).length)
    .reduce((sum, count) => sum + count, 0);
  const markdown = withoutMoments(stringOf(text));
  const rich = markdown.text.trim() === '' ? readRichText(richText) : null;
  const pictures = Math.max(attached, markdown.pictures, rich?.pictures ?? 0);
  const body = rich?.html
    ? ({ format: 'html', text: rich.html } as const)
    : ({ format: 'markdown', text: markdown.text } as const);
  if (body.text.trim() === '' && pictures === 0) return skip(source, 'empty');
  return { kind: 'entry', ...local, title: null, body, source, pictures };
}

/** `![](dayone-moment://ID)` is a picture or a recording, `[words](dayone2://view?entryId=ID)` a link to an entry. */
function withoutMoments(markdown: string): { text: string; pictures: number } {
  let pictures = 0;
  const text = markdown
    .replace(/!\[[^[\]\n]*\]\(\s*(?:dayone-moment:|photos\/)[^()\s]*\s*\)/g, () => {
      pictures += 1;
      return '';
    })
    .replace(/(?<!!)\[((?:\\.|[^[\]\\\n])*)\]\(\s*dayone[\w-]*:[^()\s]*\s*\)/g, '$1');
  return { text, pictures };
}

/** `{ "contents": [...] }`, usually as a JSON string; newer apps name the list `nodes`. Null for invalid JSON. */
function readRichText(richText: unknown): RichText | null {
  let document: Fields;
  try {
    document = fieldsOf(typeof richText === 'string' ? JSON.parse(richText) : richText);
  } catch {
    return null;
  }
  const collector = new LineCollector();
  let pictures = 0;
  let lineId: unknown;
  for (const node of listOf(document['contents'] ?? document['nodes'])) {
    const { text, attributes, embeddedObjects } = fieldsOf(node);
    const style = fieldsOf(attributes);
    const line = fieldsOf(style['line']);
    // Converters omit the line end before a line with a block style.
    const isBlock = ['listStyle', 'header', 'quote', 'codeBlock'].some((name) => Boolean(line[name]));
    if (isBlock && (lineId === undefined || line['identifier'] !== lineId)) collector.breakLine();
    lineId = line['identifier'];
    for (const object of listOf(embeddedObjects)) {
      const { type, url, rows } = fieldsOf(object);
      if (type === 'table') for (const row of listOf(rows)) collector.addLine(rowText(row));
      else if (stringOf(url) !== '') collector.addLine(stringOf(url));
      else if (type !== 'horizontalRuleLine' && type !== 'horizontalLineRule') pictures += 1;
    }
    collector.add(
      stringOf(text),
      {
        isBold: style['bold'] === true,
        isItalic: style['italic'] === true,
        isStruck: style['strikethrough'] === true,
        isCode: style['inlineCode'] === true,
        link: stringOf(style['linkURL']),
      },
      richLine(line),
    );
  }
  return { html: linesToHtml(collector.end()), pictures };
}

const rowText = (row: unknown): string =>
  listOf(row)
    .map((cell) =>
      listOf(fieldsOf(cell)['content'])
        .map((run) => stringOf(fieldsOf(run)['text']))
        .join(''),
    )
    .join(' · ');

function richLine({ header, listStyle, checked, indentLevel, listIndex, quote, codeBlock }: Fields): LineStyle {
  const isCheckBox = listStyle === 'checkbox';
  return {
    list: listStyle === 'numbered' ? 'number' : listStyle === 'bulleted' || isCheckBox ? 'bullet' : undefined,
    isChecked: isCheckBox ? checked === true : undefined,
    // The apps count levels from 1, the documentation of the format from 0. `linesToHtml` starts each list at level 0.
    level: typeof indentLevel === 'number' ? Math.max(indentLevel - 1, 0) : 0,
    start: typeof listIndex === 'number' && listIndex !== 1 ? listIndex : undefined,
    heading: typeof header === 'number' ? header : 0,
    isQuote: quote === true,
    isCode: codeBlock === true,
  };
}

async function* readClassic(
  files: readonly SourceFile[],
  context: ReadContext,
): AsyncGenerator<JournalEntry | Skipped> {
  const photos = new Map<string, number>();
  for (const { path } of files) {
    const id = /(?:^|\/)photos\/([\da-f]{32})\.\w+$/i.exec(path)?.[1]?.toUpperCase();
    if (id !== undefined) photos.set(id, (photos.get(id) ?? 0) + 1);
  }
  yield* readEachFile(files.filter(isClassic), context, function* (file, text) {
    const fields = readPropertyList(text);
    const created = fields.get('Creation Date');
    if (fields.size === 0) yield skip(file.path, 'broken');
    else if (created === undefined) yield skip(file.path, 'noDate');
    else {
      const local = entryTime(created, fields.get('Time Zone'), context.zone);
      const { text: markdown, pictures: moments } = withoutMoments(normalizeText(fields.get('Entry Text') ?? ''));
      const pictures = Math.max(photos.get((fields.get('UUID') ?? '').toUpperCase()) ?? 0, moments);
      if (!local) yield skip(file.path, 'invalidDate');
      else if (markdown.trim() === '' && pictures === 0) yield skip(file.path, 'empty');
      else
        yield {
          kind: 'entry',
          ...local,
          title: null,
          body: { format: 'markdown', text: markdown },
          source: file.path,
          pictures,
        };
    }
  });
}

/** The texts and dates of the outermost dictionary, without those of inner ones (place, weather, device). */
function readPropertyList(xml: string): Map<string, string> {
  const fields = new Map<string, string>();
  let depth = 0;
  let key = '';
  for (const match of xml.matchAll(/<(\/?)(?:dict|array)>|<(key|string|date)>([^<]*)<\/\2>/g)) {
    const [, slash, name, content = ''] = match;
    if (name === undefined) depth += slash === '/' ? -1 : 1;
    else if (depth !== 1) continue;
    else if (name === 'key') key = decodeEntities(content);
    else if (key !== '') fields.set(key, decodeEntities(content));
  }
  return fields;
}

/** `\tDate:\tJanuary 15, 2024 at 9:15:00 AM PST`, with a label in the language of the app. */
const DATE_LINE = /^\t([^\t:\n]{2,24}?)[ \u00A0]?:\t(.*\d.*)$/m;
const DETAIL_LINE = /^\t([^\t:\n]{2,24}?)[ \u00A0]?:\t/;
const PHOTO_LABEL = /^(?:photos?|fotos?|bilder|video|audio|pdf)\b/i;

type TextEntry = { date: WrittenDate; line: number; lines: string[]; pictures: number };

function* readText({ path }: SourceFile, text: string): Generator<JournalEntry | Skipped> {
  const lines = normalizeText(text).split('\n');
  const label = lines.map((line) => DATE_LINE.exec(line)).find((match) => match && findDate(match[2]!))?.[1];
  const before: string[] = [];
  const entries: TextEntry[] = [];
  let isInHead = false;
  for (const [index, line] of lines.entries()) {
    const head = DATE_LINE.exec(line);
    const entry = entries.at(-1);
    if (label !== undefined && head?.[1] === label) {
      entries.push({ date: findDate(head[2]!) ?? NO_DATE, line: index + 1, lines: [], pictures: 0 });
      isInHead = true;
    } else if (!entry) before.push(line);
    else if (isInHead && DETAIL_LINE.test(line)) {
      if (PHOTO_LABEL.test(line.trim())) entry.pictures += 1;
    } else if (!isInHead || line.trim() !== '') {
      isInHead = false;
      entry.lines.push(line);
    }
  }
  if (before.join('').trim() !== '') yield skip(`${path}, before the first date`, 'noDate');
  const days = resolveDates(
    entries.map(({ date }) => date),
    true,
  );
  for (const [index, { date, line, lines: body, pictures: listed }] of entries.entries()) {
    const source = `${path}, line ${line}`;
    const resolved = days[index]!;
    const { text: markdown, pictures: moments } = withoutMoments(body.join('\n').trim());
    const pictures = Math.max(listed, moments);
    if ('reason' in resolved) yield skip(source, resolved.reason);
    else if (markdown === '' && pictures === 0) yield skip(source, 'empty');
    else
      yield {
        kind: 'entry',
        day: resolved.day,
        time: date.time,
        title: null,
        body: { format: 'markdown', text: markdown },
        source,
        pictures,
      };
  }
}

const NO_DATE: WrittenDate = { readings: new Map(), time: null, rest: '', isFirst: false, hasDots: false };

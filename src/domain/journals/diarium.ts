/**
 * Diarium: the JSON export (a list of entries with the local time and HTML, in one file or a file per day, beside
 * `media/2024-05-01_184500000`), the text export (`Diarium_2024-05-01.txt`) and the HTML export (a folder per day).
 */
import { isDay } from '../day/day.ts';
import { normalizeText } from '../log/text-to-log.ts';
import { fieldsOf, listOf, stringOf, titleOf, type Fields } from './json-fields.ts';
import { entryTime } from './timestamps.ts';
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
import { findElements, hasClass, textOf } from './markup.ts';
import { findDate } from './written-dates.ts';

const DAY_FILE = /(?:^|\/)Diarium_(\d{4}-\d{2}-\d{2})[^/]*\.(txt|html?)$/i;
/** `2024-05-01_184500000/Diarium.html`, or `2024-05-01/….html`. */
const DAY_FOLDER = /(?:^|\/)(\d{4}-\d{2}-\d{2})[^/]*\/[^/]+\.html?$/i;

const isPage = (head: string): boolean => /class="(?:TagsLocation|Header|Content)"/.test(head);

export const diarium: JournalReader = {
  program: 'Diarium',
  async detect(files, peek) {
    if (files.some(({ path }) => DAY_FILE.test(path))) return 0.95;
    for await (const head of jsonStarts(files, peek)) {
      if (
        /^\uFEFF?\s*(?:\[\s*)?\{/.test(head) &&
        /"date"\s*:\s*"\d{4}-\d{2}-\d{2}T/.test(head) &&
        /"(?:heading|html)"\s*:/.test(head)
      )
        return 0.9;
    }
    const page = files.find(({ path }) => DAY_FOLDER.test(path));
    return page && isPage(await peek(page)) ? 0.8 : 0;
  },
  async *read(files, context) {
    const media = countMedia(files);
    yield* readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const content: unknown = JSON.parse(text);
      const entries = Array.isArray(content) ? listOf(content) : [content];
      for (const [index, entry] of entries.entries())
        yield readEntry(
          fieldsOf(entry),
          Array.isArray(content) ? `${path}, entry ${index + 1}` : path,
          media,
          context.zone,
        );
    });
    const pages = files.filter(({ path }) => DAY_FILE.test(path) || DAY_FOLDER.test(path));
    yield* readEachFile(pages, context, function* ({ path }, text) {
      const [, day = '', extension = ''] = DAY_FILE.exec(path) ?? [...DAY_FOLDER.exec(path)!, 'html'];
      if (isDay(day))
        yield /^txt$/i.test(extension)
          ? readText(path, text, day)
          : readPage(path, text, day, DAY_FOLDER.test(path) ? (media.get(folderOf(path)) ?? 0) : 0);
      else yield skip(path, 'invalidDate');
    });
  },
};

const folderOf = (path: string): string => path.replace(/[^/]+$/, '');

/** Counts the files that are no pages by folder, or in `media/2024-05-01_184500000` by the day and time of the entry. */
function countMedia(files: readonly SourceFile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const folder = folderOf(path);
    const [, day, time] = /(?:^|\/)media\/(\d{4}-\d{2}-\d{2})_(\d{6})\d*\/$/.exec(folder) ?? [];
    const key = day === undefined ? folder : `${day} ${time}`;
    if (!/\.(?:html?|css)$/i.test(path)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function readEntry(
  { date, heading, html, text }: Fields,
  source: string,
  media: ReadonlyMap<string, number>,
  zone: string,
): JournalEntry | Skipped {
  if (stringOf(date) === '') return skip(source, 'noDate');
  const local = entryTime(date, null, zone);
  if (!local) return skip(source, 'invalidDate');
  const title = titleOf(heading);
  const page = stringOf(html);
  const body =
    page === '' ? ({ format: 'text', text: stringOf(text) } as const) : ({ format: 'html', text: page } as const);
  const attached = media.get(`${local.day} ${local.time.replaceAll(':', '')}`) ?? 0;
  const pictures = Math.max(attached, findElements(page, 'img').length);
  if (title === null && body.text.trim() === '' && pictures === 0) return skip(source, 'empty');
  return { kind: 'entry', ...local, title, body, source, pictures };
}

type Day = JournalEntry['day'];

/** The first line is the day in words. A line between dashes is the time of the last change. */
function readText(source: string, text: string, day: Day): JournalEntry | Skipped {
  const lines = normalizeText(text).split('\n');
  if (findDate(lines[0] ?? '')?.rest === '') lines.shift();
  if (/^—.*\d.*—$/.test(lines[0]?.trim() ?? '')) lines.shift();
  const body = lines.join('\n').trim();
  if (body === '') return skip(source, 'empty');
  return { kind: 'entry', day, time: null, title: null, body: { format: 'text', text: body }, source, pictures: 0 };
}

function readPage(source: string, html: string, day: Day, pictures: number): JournalEntry | Skipped {
  const paragraphs = (name: string): string[] =>
    findElements(html, 'p', (attributes) => hasClass(attributes, name)).map(({ inner }) => inner);
  const title = titleOf(paragraphs('Header').map(textOf).join(' '));
  const text = paragraphs('Content')
    .map((inner) => `<p>${inner}</p>`)
    .join('');
  if (title === null && text === '' && pictures === 0) return skip(source, 'empty');
  return { kind: 'entry', day, time: null, title, body: { format: 'html', text }, source, pictures };
}

/**
 * Joplin: `.jex` (a tar of the RAW format), a RAW folder (`<32 hex digits>.md`, a note and its fields below it), and
 * Markdown with front matter. Timestamps are in UTC, and no zone is stored.
 */
import { splitFrontMatter, textProperty } from './front-matter.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  distinctTitle,
  fileName,
  isHidden,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { dayOfNote } from './timestamps.ts';

const isArchive = ({ path }: SourceFile): boolean => /\.jex$/i.test(path);
const isRaw = ({ path }: SourceFile): boolean => /(?:^|\/)[\da-f]{32}\.md$/i.test(path);
const isMarkdown = (file: SourceFile): boolean => /\.(?:md|markdown)$/i.test(file.path) && !isHidden(file);
/** Joplin writes times without `T`: `created: 2024-05-01 08:30:00Z`. */
const FRONT_MATTER =
  /^\uFEFF?---\r?\ntitle: .*[^]*^updated: \d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?Z\r?$[^]*^created: /m;

export const joplin: JournalReader = {
  program: 'Joplin',
  async detect(files, peek) {
    if (files.some(isArchive)) return 0.95;
    if (files.filter(isRaw).length * 2 > files.filter(isMarkdown).length) return 0.9;
    const [first] = files.filter(isMarkdown);
    return first && FRONT_MATTER.test(await peek(first)) ? 0.9 : 0;
  },
  async *read(files, context) {
    for (const archive of files.filter(isArchive))
      try {
        const members = membersOfTar(archive, await archive.read());
        yield* readEachFile(members.filter(isRaw), context, (file, text) => readRaw(file, text, context.zone));
      } catch {
        yield skip(archive.path, 'broken');
      }
    yield* readEachFile(files.filter(isMarkdown), context, (file, text) =>
      isRaw(file) ? readRaw(file, text, context.zone) : readMarkdown(file, text, context.zone),
    );
  },
};

type Note = { title: string; body: string; source: string; fields: ReadonlyMap<string, string> };

const NOTE_TYPE = '1';
const HTML = '2';

/**
 * A note is its title, an empty line, its text, an empty line and lines of fields. Notebooks and tags have files of the
 * same form with another `type_`.
 */
function* readRaw(file: SourceFile, text: string, zone: string): Generator<JournalEntry | Skipped> {
  const lines = text.trimEnd().split(/\r?\n/);
  const fields = new Map<string, string>();
  let end = lines.length;
  for (; end > 0 && lines[end - 1] !== ''; end -= 1) {
    const [, name, value] = /^(\w+):(?: (.*))?$/.exec(lines[end - 1]!) ?? [];
    if (name === undefined) break;
    fields.set(name, value?.trim() ?? '');
  }
  if (!fields.has('type_')) yield skip(file.path, 'broken');
  if (fields.get('type_') !== NOTE_TYPE) return;
  const [title = '', ...rest] = lines.slice(0, end);
  yield* readNote({ title: title.trim(), body: rest.join('\n'), source: file.path, fields }, zone);
}

function* readNote({ title, body, source, fields }: Note, zone: string): Generator<JournalEntry | Skipped> {
  const label = title === '' ? source : `${source} (${title})`;
  const isSet = (name: string): boolean => !['', '0', undefined].includes(fields.get(name));
  if (isSet('encryption_applied')) return yield skip(label, 'encrypted');
  if (isSet('deleted_time')) return yield skip(label, 'trashed');
  const dated = dayOfNote(title, [fields.get('user_created_time'), fields.get('created_time')], zone);
  if ('reason' in dated) return yield skip(label, dated.reason);
  const box = isSet('is_todo') ? `[${isSet('todo_completed') ? 'x' : ' '}] ` : '';
  const isHtml = fields.get('markup_language') === HTML;
  const { text, pictures } = isHtml
    ? { text: body.trim(), pictures: (body.match(/<img\b/gi) ?? []).length }
    : plainMarkdown(body.trim());
  yield {
    kind: 'entry',
    ...dated,
    title: box === '' ? distinctTitle(dated.title, text) : box + (dated.title ?? title),
    body: { format: isHtml ? 'html' : 'markdown', text },
    source: label,
    pictures,
  };
}

/** The front matter names the fields in words: `created`, `completed?: yes`. */
function* readMarkdown(file: SourceFile, content: string, zone: string): Generator<JournalEntry | Skipped> {
  const { properties, body } = splitFrontMatter(content);
  const value = (name: string): string => textProperty(properties, [name]) ?? '';
  const completed = value('completed?');
  const fields = new Map([
    ['user_created_time', value('created')],
    ['is_todo', completed === '' ? '0' : '1'],
    ['todo_completed', completed === 'yes' ? '1' : '0'],
  ]);
  yield* readNote(
    { title: textProperty(properties, ['title']) ?? fileName(file), body, source: file.path, fields },
    zone,
  );
}

const BLOCK = 512;

/**
 * The files in an uncompressed tar archive (POSIX ustar, with the long names of GNU and pax). Throws a RangeError if a
 * file is cut off, or if the bytes are no tar or an empty one.
 */
function membersOfTar(archive: SourceFile, bytes: Uint8Array): SourceFile[] {
  const members: SourceFile[] = [];
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= bytes.length;) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header[0] === 0) break;
    const size = Number.parseInt(ascii(header, 124, 12).trim(), 8);
    const data = bytes.subarray(at + BLOCK, at + BLOCK + size);
    if (!isHeader(header) || !(size >= 0) || data.length < size)
      throw new RangeError(`not a whole tar: ${archive.path}`);
    const type = String.fromCharCode(header[156]!);
    if (type === 'L') longName = ascii(data, 0, size);
    else if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(ascii(data, 0, size))?.[1] ?? null;
    else {
      const prefix = ascii(header, 257, 5) === 'ustar' ? ascii(header, 345, 155) : '';
      const name = longName ?? (prefix === '' ? '' : `${prefix}/`) + ascii(header, 0, 100);
      longName = null;
      if (type === '0' || type === '\0' || type === '7')
        members.push({ path: `${archive.path}/${name}`, size, read: async () => data });
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (members.length === 0) throw new RangeError(`an empty tar: ${archive.path}`);
  return members;
}

/** The text up to the first NUL. The names that readers look for are ASCII. */
function ascii(bytes: Uint8Array, from: number, length: number): string {
  let text = '';
  for (let at = from; at < from + length && bytes[at] !== 0; at += 1) text += String.fromCharCode(bytes[at]!);
  return text;
}

function isHeader(header: Uint8Array): boolean {
  const stored = Number.parseInt(ascii(header, 148, 8).trim(), 8);
  // The checksum counts its own eight bytes as spaces.
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  return stored === sum;
}

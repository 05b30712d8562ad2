/**
 * Joplin: `.jex` (a tar of the RAW format), a RAW folder (`<32 hex digits>.md`, a note and its fields below it), and
 * Markdown with front matter. Timestamps are UTC without a zone.
 */
import { splitFrontMatter, textProperty } from './front-matter.ts';
import type { JournalEntry, JournalReader, Skipped, SourceFile } from './journal-reader.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { dayOfNote } from './note-time.ts';
import { distinctTitle, fileName, isHidden, readEachFile, skip } from './source-files.ts';
import { membersOfTar } from './tar.ts';

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

/** A note is its title, an empty line, its text, an empty line and lines of fields. Notebooks and tags look alike. */
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
    {
      title: textProperty(properties, ['title']) ?? fileName(file),
      body,
      source: file.path,
      fields,
    },
    zone,
  );
}

/**
 * StoryPad: a JSON backup, `{ "tables": { "stories": [...] } }`, and the text export. A story stores its local date and
 * time as numbers, and its pages as Quill deltas.
 */
import { isDay } from '../day/day.ts';
import { normalizeText } from '../log/text-to-log.ts';
import { fieldsOf, listOf, stringOf, titleOf, type Fields } from './json-fields.ts';
import { parseTimestamp } from './timestamps.ts';
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
import { deltaToHtml, linesToHtml, markedText } from './markup.ts';

const isText = ({ path }: SourceFile): boolean => /\.txt$/i.test(path);

export const storyPad: JournalReader = {
  program: 'StoryPad',
  async detect(files, peek) {
    const [text] = files.filter(isText);
    if (text && TEXT_HEAD.test(await peek(text))) return 0.95;
    for await (const head of jsonStarts(files, peek)) {
      if (/"tables"\s*:\s*\{/.test(head) && /"(?:stories|latest_content|tags|preferences|assets)"\s*:/.test(head))
        return 0.9;
    }
    return 0;
  },
  async *read(files, context) {
    yield* readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const { stories } = fieldsOf(fieldsOf(JSON.parse(text))['tables']);
      if (!Array.isArray(stories)) yield skip(path, 'broken');
      for (const [index, story] of listOf(stories).entries())
        yield readStory(fieldsOf(story), `${path}, story ${index + 1}`);
    });
    yield* readEachFile(files.filter(isText), context, readText);
  },
};

const digits = (value: unknown, length: number): string =>
  Number.isInteger(value) ? String(value).padStart(length, '0') : '';

function readStory(story: Fields, source: string): JournalEntry | Skipped {
  const { type, year, month, day, hour, minute, second } = story;
  if (type === 'bins' || stringOf(story['moved_to_bin_at']) !== '' || stringOf(story['permanently_deleted_at']) !== '')
    return skip(source, 'trashed');
  if (type === 'templates') return skip(source, 'template');
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
  if (!isDay(date)) return skip(source, year === undefined ? 'noDate' : 'invalidDate');
  // Old versions keep every change and no `latest_content`.
  const content = fieldsOf(story['latest_content'] ?? listOf(story['changes']).at(-1) ?? story['draft_content']);
  const { html, pictures } = pagesToHtml(content);
  const title = titleOf(content['title']);
  const plain = stringOf(content['plain_text']);
  const body = html === '' ? ({ format: 'text', text: plain } as const) : ({ format: 'html', text: html } as const);
  const left = Math.max(pictures, listOf(story['assets']).length);
  if (title === null && body.text.trim() === '' && left === 0) return skip(source, 'empty');
  const time =
    hour === undefined || hour === null
      ? null
      : `${digits(hour, 2)}:${digits(minute, 2) || '00'}:${digits(second, 2) || '00'}`;
  return { kind: 'entry', day: date, time, title, body, source, pictures: left };
}

/** Writes the title of each page but the one that is the title of the story. */
function pagesToHtml({ rich_pages: rich, pages, title }: Fields): { html: string; pictures: number } {
  let html = '';
  let pictures = 0;
  const add = (delta: unknown): void => {
    const page = deltaToHtml(listOf(delta));
    html += page.html;
    pictures += page.pictures;
  };
  for (const page of listOf(rich)) {
    const { title: heading, body } = fieldsOf(page);
    const text = stringOf(heading).trim();
    if (text !== '' && text !== stringOf(title).trim())
      html += linesToHtml([{ html: markedText(text, { isBold: true }), style: {} }]);
    add(body);
  }
  if (listOf(rich).length === 0) for (const page of listOf(pages)) add(page);
  return { html, pictures };
}

const TEXT_HEAD = /^\uFEFF?StoryPad ID: \d+\s*$/m;

const PICTURE = /!\[[^[\]\n]*\]\([^()\n]*\)/g;

/** Blocks of `Title:`, `Date:` and other fields, an empty line and the text, with `###` between them. */
function* readText({ path }: SourceFile, text: string): Generator<JournalEntry | Skipped> {
  const blocks = normalizeText(text).split(/(?:^|\n\n?###\n\n?)(?=\uFEFF?StoryPad ID: \d)/);
  for (const [index, block] of blocks.filter((part) => part.trim() !== '').entries()) {
    const source = `${path}, story ${index + 1}`;
    const [head = '', ...paragraphs] = block.split('\n\n');
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1]?.trim() ?? '';
    const local = parseTimestamp(field('Date'), 'UTC');
    const title = titleOf(field('Title'));
    const content = paragraphs.join('\n\n').trim();
    if (field('Date') === '') yield skip(source, 'noDate');
    else if (!local) yield skip(source, 'invalidDate');
    else if (title === null && content === '') yield skip(source, 'empty');
    else {
      const pictures = content.match(PICTURE)?.length ?? 0;
      const body = { format: 'text', text: content.replace(PICTURE, '').trim() } as const;
      yield { kind: 'entry', ...local, title, body, source, pictures };
    }
  }
}

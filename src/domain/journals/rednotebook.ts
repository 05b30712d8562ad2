/**
 * RedNotebook: a folder with a file for each month, `2024-05.txt`, in YAML: the number of the day, its text, and notes
 * in categories. The text is txt2tags, or Markdown since 2026 (`markup` in `journal.cfg`). Days are local, without times.
 */
import { escapeHtml } from '../export/escape-html.ts';
import { isDay } from '../day/day.ts';
import { parseYaml } from './front-matter.ts';
import type { JournalEntry, JournalReader, Skipped, SourceFile } from './journal-reader.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { readEachFile, skip } from './source-files.ts';
import { txt2tagsHtml, txt2tagsLine } from './txt2tags.ts';

const MONTH_FILE = /(?:^|\/)(\d{4}-\d{2})\.txt$/i;
const DAY_KEY = /^(?:'(\d{1,2})'|"(\d{1,2})"|(\d{1,2})):(?=\s|$)/;

export const redNotebook: JournalReader = {
  program: 'RedNotebook',
  async detect(files, peek) {
    const month = files.find(({ path }) => MONTH_FILE.test(path));
    return month && new RegExp(DAY_KEY, 'm').test((await peek(month)).replace(/^\uFEFF/, '')) ? 0.95 : 0;
  },
  owns: () => (file) => /(?:^|\/)journal\.cfg$/i.test(file.path),
  async *read(files, context) {
    const settings = files.find(({ path }) => /(?:^|\/)journal\.cfg$/i.test(path));
    const isMarkdown = settings
      ? /^\s*markup\s*[=:]\s*["']?markdown/im.test(await context.decode(settings).catch(() => ''))
      : false;
    const months = files.filter(({ path }) => MONTH_FILE.test(path));
    yield* readEachFile(months, context, (file, text) => readMonth(file, text, isMarkdown));
  },
};

/** Parses each day alone, so that a damaged one does not take its month along. Everything below a key is indented. */
function* readMonth(file: SourceFile, text: string, isMarkdown: boolean): Generator<JournalEntry | Skipped> {
  const month = MONTH_FILE.exec(file.path)![1]!;
  let parts: { number: string; yaml: string[] }[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)) {
    const key = DAY_KEY.exec(line);
    const number = key?.[1] ?? key?.[2] ?? key?.[3];
    if (number === undefined) parts.at(-1)?.yaml.push(line);
    else parts = [...parts, { number, yaml: [line] }];
  }
  // Python wrote `{1: {text: ...}, 2: ...}` for a short month before 2009.
  if (parts.length === 0 && text.trim().startsWith('{')) {
    const days: unknown = parseYaml(text);
    for (const [number, content] of Object.entries(Object(days) as Record<string, unknown>))
      yield* readDay(`${file.path}, day ${number}`, `${month}-${number.padStart(2, '0')}`, content, isMarkdown);
    return;
  }
  if (parts.length === 0 && text.trim() !== '') yield skip(file.path, 'broken');
  for (const { number, yaml } of parts) {
    const source = `${file.path}, day ${number}`;
    try {
      const content = Object.values(Object(parseYaml(yaml.join('\n'))) as Record<string, unknown>)[0];
      yield* readDay(source, `${month}-${number.padStart(2, '0')}`, content, isMarkdown);
    } catch {
      yield skip(source, 'broken');
    }
  }
}

function* readDay(
  source: string,
  date: string,
  content: unknown,
  isMarkdown: boolean,
): Generator<JournalEntry | Skipped> {
  if (!isDay(date)) return yield skip(source, 'invalidDate');
  const { text, ...categories } = Object(content) as Record<string, unknown>;
  const isEmpty = content === null || content === undefined || text === undefined || text === null;
  // Without a schema, YAML's null is the word.
  const body = isEmpty || text === 'null' || text === '~' ? '' : text;
  if (typeof body !== 'string' || (typeof content === 'string' && content.trim() !== ''))
    return yield skip(source, 'broken');
  const notes = notesIn(categories);
  if (body.trim() === '' && notes.length === 0) return;
  const converted = isMarkdown ? plainMarkdown(withoutColors(body)) : txt2tagsHtml(body);
  yield {
    kind: 'entry',
    day: date,
    time: null,
    title: null,
    body: isMarkdown
      ? { format: 'markdown', text: [converted.text, ...notes.map(markdownNotes)].join('\n\n').trim() }
      : { format: 'html', text: converted.text + notes.map(htmlNotes).join('') },
    source,
    pictures: converted.pictures,
  };
}

type Notes = { category: string; items: string[] };

/** A category without notes is a tag, and tags are left out. */
const notesIn = (categories: Readonly<Record<string, unknown>>): Notes[] =>
  Object.entries(categories).flatMap(([category, notes]) => {
    const items = typeof notes === 'object' && notes !== null && category !== 'Tags' ? Object.keys(notes) : [];
    return items.length > 0 ? [{ category, items }] : [];
  });

const htmlNotes = ({ category, items }: Notes): string =>
  `<p><strong>${escapeHtml(category)}</strong></p><ul>${items.map((item) => `<li>${txt2tagsLine(item)}</li>`).join('')}</ul>`;

const markdownNotes = ({ category, items }: Notes): string =>
  `**${category}**\n\n${items.map((item) => `- ${item}`).join('\n')}`;

const withoutColors = (text: string): string => text.replace(/\{([^{}|]+)\|color:[^{}]+\}/g, '$1');

/**
 * RedNotebook: a folder with a file for each month, `2024-05.txt`, in YAML: the number of the day, its text, and notes
 * in categories. The text is txt2tags, or Markdown since 2026 (`markup` in `journal.cfg`). Days are local, without
 * times. Unknown or unbalanced marks of txt2tags stay as they are written.
 */
import { escapeHtml } from '../log/entry-html.ts';
import { isDay } from '../day/day.ts';
import { parseYaml } from './front-matter.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { plainMarkdown } from './plain-markdown.ts';

type Converted = { text: string; pictures: number };

const TITLE = /^ *(={1,5}|\+{1,5})([^=+](?:.*[^=+])?)\1(?:\[[\w-]*\])?\s*$/;
const ITEM = /^( *)([-+:]) (?=\S)(.*)$/;
const LIST_END = /^ *[-+:]\s*$/;
const RULE = /^\s*[_=-]{20,}\s*$/;
const TABLE_ROW = /^ *\|[|_/]? /;
/** The marks of blocks that are not parsed. */
const BLOCKS = [
  { mark: '```', isCode: true, isHidden: false },
  { mark: '"""', isCode: false, isHidden: false },
  { mark: "'''", isCode: false, isHidden: false },
  { mark: '%%%', isCode: false, isHidden: true },
] as const;

export function txt2tagsHtml(source: string): Converted {
  const html: string[] = [];
  const lists: { indent: number; tag: 'ol' | 'ul' }[] = [];
  let paragraph: { tag: 'p' | 'blockquote'; lines: string[] } = { tag: 'p', lines: [] };
  let pictures = 0;
  let blankLines = 0;
  const inline = (text: string): string => {
    const converted = convertInline(text);
    pictures += converted.pictures;
    return converted.text;
  };
  const endParagraph = (): void => {
    const { tag, lines } = paragraph;
    const seen = lines.filter((line) => line.trim() !== '');
    if (seen.length > 0) html.push(`<${tag}>${seen.join('<br>')}</${tag}>`);
    paragraph = { tag: 'p', lines: [] };
  };
  const closeLists = (indent: number): void => {
    endParagraph();
    while (lists.length > 0 && lists.at(-1)!.indent > indent) html.push(`</li></${lists.pop()!.tag}>`);
  };
  const addItem = (indent: number, marker: string, text: string): void => {
    closeLists(indent);
    const tag = marker === '+' ? 'ol' : 'ul';
    const open = lists.at(-1);
    if (open?.indent === indent && open.tag === tag) html.push('</li><li>');
    else {
      if (open?.indent === indent) html.push(`</li></${lists.pop()!.tag}>`);
      lists.push({ indent, tag });
      html.push(`<${tag}><li>`);
    }
    paragraph = { tag: 'p', lines: [inline(text)] };
  };

  const lines = source.split(/\r\n?|\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const block = BLOCKS.find(({ mark }) => line.trimEnd() === mark);
    if (block) {
      endParagraph();
      const end = lines.findIndex((other, index) => index > at && other.trimEnd() === block.mark);
      const content = lines.slice(at + 1, end < 0 ? lines.length : end).map((text) => escapeHtml(text));
      if (block.isCode) html.push(`<pre><code>${content.join('\n')}</code></pre>`);
      else if (!block.isHidden && content.length > 0) html.push(`<p>${content.join('<br>')}</p>`);
      at = end < 0 ? lines.length : end;
      continue;
    }
    if (line.trim() === '') {
      endParagraph();
      blankLines += 1;
      // One empty line does not end a list.
      if (blankLines === 2) closeLists(-1);
      continue;
    }
    blankLines = 0;
    const title = TITLE.exec(line);
    const item = ITEM.exec(line);
    const quote = /^\t+/.test(line);
    if (line.startsWith('%')) continue;
    if (title) {
      closeLists(-1);
      const level = Math.min(3, title[1]!.length);
      html.push(`<h${level}>${escapeHtml(title[2]!.trim())}</h${level}>`);
    } else if (RULE.test(line)) closeLists(-1);
    else if (LIST_END.test(line)) closeLists(lists.length > 0 ? lists.at(-1)!.indent - 1 : -1);
    else if (item) addItem(item[1]!.length, item[2]!, item[3]!);
    else if (TABLE_ROW.test(line)) {
      closeLists(-1);
      const cells = line
        .trim()
        .replace(/^\|[|_/]?|\|$/g, '')
        .split(/\s\|+(?=\s|$)/);
      html.push(`<table><tr>${cells.map((cell) => `<td>${inline(cell.trim())}</td>`).join('')}</tr></table>`);
    } else {
      const tag = quote ? 'blockquote' : 'p';
      const isLine = /^(```|"""|''') (?=.)/.exec(line);
      const text = isLine ? escapeHtml(line.slice(4)) : inline(line.trim());
      if (paragraph.tag !== tag) {
        endParagraph();
        paragraph = { tag, lines: [] };
      }
      paragraph.lines.push(text);
    }
  }
  closeLists(-1);
  return { text: html.join(''), pictures };
}

/** The HTML of one line: a note in a category. */
const txt2tagsLine = (line: string): string => convertInline(line).text;

const URL = String.raw`(?:(?:https?|ftp|news)://|www\.|mailto:)[^\s"'<>[\]]*[^\s"'<>[\].,;:!?)]`;
const PICTURE_NAME = String.raw`\.(?:png|jpe?g|gif|eps|bmp|svg|webp|heic)`;
const TOKENS = new RegExp(
  [
    String.raw`(?<picture>\[(?:""[^"\n]+"")?[^\s[\]"]*${PICTURE_NAME}(?:\?\d+)?\])`,
    String.raw`\[(?<file>[^[\]\n"]*)\s""(?<path>[^"\n]+)""[^[\]\s]*\]`,
    String.raw`\[(?<label>[^[\]\n]+?)\s+(?<address>${URL}|[^\s[\]]*/[^\s[\]]*|[^\s[\]]+\.[A-Za-z]\w{0,4})\]`,
    String.raw`\[(?:(?<name>[^[\]\n]+?)\s+)?(?<date>\d{4}-\d{2}-\d{2})\s*\]`,
    String.raw`""(?<raw>\S(?:[^\n]*?\S)?"*)""`,
    String.raw`''(?<tagged>\S(?:[^\n]*?\S)?'*)''`,
    String.raw`\`\`(?<code>\S(?:[^\n]*?\S)?\`*)\`\``,
    String.raw`\{(?<colored>[^{}|\n]+)\|color:[^{}\n]+\}`,
    String.raw`(?<url>${URL})`,
  ].join('|'),
  'gi',
);
const MARKS = [
  [/\*\*(\S(?:.*?\S)?\**)\*\*/g, 'strong'],
  [/\/\/(\S(?:.*?\S)?\/*)\/\//g, 'em'],
  [/__(\S(?:.*?\S)?_*)__/g, 'u'],
  [/--(\S(?:.*?\S)?-*)--/g, 's'],
] as const;

const MASK = '\uE000';

function convertInline(source: string): Converted {
  const masked: string[] = [];
  let pictures = 0;
  const mask = (html: string): string => `${MASK}${masked.push(html) - 1}${MASK}`;
  const link = (label: string, address: string): string => {
    const isOutside = /^(?:https?|ftp|mailto|www\.)/i.test(address);
    const href = /^www\./i.test(address) ? `https://${address}` : address;
    return mask(isOutside ? `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>` : escapeHtml(label));
  };
  const text = source
    .replaceAll(MASK, '')
    .replace(/\\\\\s*$/, '')
    .replace(TOKENS, (token: string, ...parts: unknown[]) => {
      const groups = parts.at(-1) as Record<string, string | undefined>;
      if (groups.picture !== undefined) {
        pictures += 1;
        return mask('');
      }
      if (groups.path !== undefined) return link(groups.file!.trim(), groups.path);
      if (groups.address !== undefined) return link(groups.label!, groups.address);
      if (groups.date !== undefined) return mask(escapeHtml(groups.name ?? groups.date));
      if (groups.raw !== undefined) return mask(escapeHtml(groups.raw));
      if (groups.tagged !== undefined) return mask(escapeHtml(groups.tagged.replace(/<\/?[a-z][^<>]*>/gi, '')));
      if (groups.code !== undefined) return mask(`<code>${escapeHtml(groups.code)}</code>`);
      // Colour has no place in a log, but its text can have marks.
      if (groups.colored !== undefined) return groups.colored;
      return link(token, token);
    });
  let html = escapeHtml(text);
  for (const [pattern, tag] of MARKS) html = html.replace(pattern, `<${tag}>$1</${tag}>`);
  // A masked text can contain no mask, because its source had none.
  return { text: html.replace(/\uE000(\d+)\uE000/g, (_, index: string) => masked[Number(index)]!), pictures };
}

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

/** Parses each day alone, so that a damaged one does not spoil its month. Everything below a key is indented. */
function* readMonth(file: SourceFile, text: string, isMarkdown: boolean): Generator<JournalEntry | Skipped> {
  const month = MONTH_FILE.exec(file.path)![1]!;
  let parts: { number: string; yaml: string[] }[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)) {
    const key = DAY_KEY.exec(line);
    const number = key?.[1] ?? key?.[2] ?? key?.[3];
    if (number === undefined) parts.at(-1)?.yaml.push(line);
    else parts = [...parts, { number, yaml: [line] }];
  }
  // Before 2009, RedNotebook wrote a short month as `{1: {text: ...}, 2: ...}`.
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
  // The failsafe schema reads null as the text that is written.
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

/**
 * Roam Research: the JSON export, a list of pages that are outlines of blocks. The page of a day has the date as title
 * (`May 1st, 2024`) and as `uid` (`05-01-2024`). Other pages have no day.
 */
import { fieldsOf, listOf, stringOf } from './json-fields.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  isJson,
  jsonStarts,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { findDate, resolveDates } from './written-dates.ts';

const HEAD = /^\uFEFF?\s*\[\s*\{(?=[^]*"(?:create-time|edit-time|children)"\s*:)(?=[^]*"(?:title|string)"\s*:)/;

export const roam: JournalReader = {
  program: 'Roam Research',
  async detect(files, peek) {
    for await (const head of jsonStarts(files, peek)) if (HEAD.test(head)) return 0.85;
    return 0;
  },
  read: (files, context) =>
    readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const content: unknown = JSON.parse(text);
      if (!Array.isArray(content)) return yield skip(path, 'broken');
      const pages = content.map(fieldsOf);
      const blocks = new Map<string, string>();
      collectBlocks(pages, blocks);
      for (const page of pages) yield readPage(page, path, blocks);
    }),
};

type Fields = Readonly<Record<string, unknown>>;
type Blocks = Map<string, string>;

/** The text of each block by its id, for references to it. */
function collectBlocks(pages: readonly Fields[], blocks: Blocks): void {
  for (let level = pages; level.length > 0;) {
    for (const { uid, string } of level) if (stringOf(uid) !== '') blocks.set(stringOf(uid), stringOf(string));
    level = level.flatMap(({ children }) => listOf(children).map(fieldsOf));
  }
}

function readPage(page: Fields, path: string, blocks: Blocks): JournalEntry | Skipped {
  const title = stringOf(page['title']).trim();
  const source = `${path}, ${title || 'page without a name'}`;
  const written = findDate(title);
  if (written?.rest !== '') return skip(source, 'noDate');
  const resolved = resolveDates([written], false)[0]!;
  if ('reason' in resolved) return skip(source, resolved.reason);
  const { text, pictures } = plainMarkdown(outlineOf(page, blocks), { isVault: true });
  if (text.trim() === '' && pictures === 0) return skip(source, 'empty');
  return {
    kind: 'entry',
    day: resolved.day,
    time: null,
    title: null,
    body: { format: 'markdown', text },
    source,
    pictures,
  };
}

/** Deeper blocks stay at this level. */
const MAX_LEVEL = 30;

function outlineOf(page: Fields, blocks: Blocks): string {
  const lines: string[] = [];
  const add = (block: Fields, level: number): void => {
    const indent = '  '.repeat(Math.min(level, MAX_LEVEL));
    const [first = '', ...rest] = withoutMacros(stringOf(block['string']), blocks).split('\n');
    lines.push(`${indent}- ${first}`, ...rest.map((line) => `${indent}  ${line}`));
    for (const child of listOf(block['children'])) add(fieldsOf(child), level + 1);
  };
  for (const block of listOf(page['children'])) add(fieldsOf(block), 0);
  return lines.join('\n');
}

const withoutMacros = (text: string, blocks: Blocks): string =>
  text
    .replace(/([^\n`])```$/, '$1\n```')
    .replace(/\{\{\[?\[?(?:embed|embed-path)\]?\]?:?\s*(\(\([\w-]+\)\))\s*\}\}/g, '$1')
    .replace(/\[([^[\]\n]+)\]\(\(\([\w-]+\)\)\)/g, '$1')
    .replace(/\(\(([\w-]{6,})\)\)/g, (reference, id: string) => blocks.get(id) ?? reference)
    .replace(/#\[\[([^[\]\n]+)\]\]/g, '#$1')
    .replace(/\[([^[\]\n]+)\]\(\[\[[^[\]\n]+\]\]\)/g, '$1')
    .replace(/\^\^(?=\S)([^^\n]+)\^\^/g, '$1')
    .replace(/__(?=\S)([^_\n]+)__/g, '*$1*');

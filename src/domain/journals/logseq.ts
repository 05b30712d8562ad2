/**
 * Logseq: the folder of a graph. `journals/2024_05_01.md` (or another date format) is a day: an outline of blocks with
 * properties, tasks and references to blocks of other files. Days are civil dates without times.
 */
import { splitFrontMatter } from './front-matter.ts';
import {
  type JournalEntry,
  type JournalReader,
  type ReadContext,
  type Skipped,
  type SourceFile,
  fileName,
  isHidden,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { markdownOfOrg } from './org-mode.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { findDate, resolveDates } from './written-dates.ts';

/** Logseq keeps copies of changed files in `logseq/bak`, and deleted ones in `logseq/.recycle`. */
const isOfGraph = (file: SourceFile): boolean =>
  /\.(?:md|markdown|org)$/i.test(file.path) && !isHidden(file) && !/(?:^|\/)logseq\/bak\//.test(file.path);
const isJournal = (file: SourceFile): boolean => /(?:^|\/)journals\/[^/]+$/i.test(file.path) && isOfGraph(file);

export const logseq: JournalReader = {
  program: 'Logseq',
  async detect(files, peek) {
    const journals = files.filter(isJournal);
    if (journals.length === 0) return 0;
    if (files.some(({ path }) => /(?:^|\/)logseq\/config\.edn$/.test(path))) return 0.95;
    if (journals.every((file) => !/(?:^|\/)\d{4}_\d{2}_\d{2}\.\w+$/.test(file.path))) return 0;
    return /^\s*- |^[\w-]+:: /m.test(await peek(journals[0]!)) ? 0.8 : 0;
  },
  owns: () => (file) => /(?:^|\/)(?:journals|pages|logseq|whiteboards|draws|assets)\//.test(file.path),
  async *read(files, context) {
    const texts = files.filter(isOfGraph);
    const journals = texts.filter(isJournal);
    for (const { path } of texts.filter((file) => !isJournal(file))) yield skip(path, 'noDate');
    const blocks = await readBlocks(texts, context);
    const dates = journals.map((file) => findDate(fileName(file)));
    const resolved = resolveDates(
      dates.filter((date) => date !== null),
      false,
    );
    let at = 0;
    const days = new Map(
      journals.map((file, index) => [file, dates[index] ? resolved[at++]! : { reason: 'noDate' as const }]),
    );
    yield* readEachFile(journals, context, (file, text) => {
      const day = days.get(file)!;
      return 'day' in day ? readJournal(file, text, day.day, blocks) : [skip(file.path, day.reason)];
    });
  },
};

type Blocks = ReadonlyMap<string, string>;

const UUID = String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`;
const BLOCK_ID = new RegExp(String.raw`^\s*(?:[-*] )?:?id::?\s+(${UUID})\s*$`, 'i');

/** The first line of each block that has an id, by the id. Only blocks to which others refer have one. */
async function readBlocks(files: readonly SourceFile[], { decode }: ReadContext): Promise<Blocks> {
  const blocks = new Map<string, string>();
  for (const file of files) {
    const text = await decode(file).catch(() => '');
    let first = '';
    for (const line of text.split(/\r\n?|\n/)) {
      const id = BLOCK_ID.exec(line)?.[1];
      if (id !== undefined) blocks.set(id.toLowerCase(), withoutMarker(first));
      else if (/^\s*(?:[-*]+ )/.test(line)) first = line.replace(/^\s*[-*]+ /, '');
    }
  }
  return blocks;
}

const TASK = /^((?:#{1,6} )?)(TODO|DOING|LATER|NOW|WAITING|WAIT|IN-PROGRESS|DONE|CANCELED|CANCELLED) (?:\[#[ABC]\] ?)?/;

const withoutMarker = (line: string): string => line.replace(TASK, '$1').replace(/^#{1,6} /, '');

function* readJournal(
  file: SourceFile,
  text: string,
  day: JournalEntry['day'],
  blocks: Blocks,
): Generator<JournalEntry | Skipped> {
  const markdown = outlineOf(
    /\.org$/i.test(file.path) ? markdownOfOrg(text, { isOutline: true }) : bulletsOf(splitFrontMatter(text).body),
    blocks,
  );
  const plain = plainMarkdown(markdown, { isVault: true });
  if (plain.text.trim() === '' && plain.pictures === 0) return yield skip(file.path, 'empty');
  yield {
    kind: 'entry',
    day,
    time: null,
    title: null,
    body: { format: 'markdown', text: plain.text.replace(/^\n+/, '').trimEnd() },
    source: file.path,
    pictures: plain.pictures,
  };
}

/** Properties of Logseq itself. Those that users named stay: `mood:: good` becomes `mood: good`. */
const OWN_PROPERTY =
  /^\s*(?:- )?(?:id|collapsed|heading|background-color|created-at|updated-at|logseq\.[\w.-]+|card-[\w-]+|ls-type|hl-[\w-]+|template(?:-including-parent)?|icon|public|filters|exclude-from-graph-view|query-[\w-]+|file(?:-path)?|title|alias|tags|type)::(?:\s|$)/i;

/** The Markdown of a page without what only Logseq understands. */
function outlineOf(text: string, blocks: Blocks): string {
  const output: string[] = [];
  let fence: string | null = null;
  let hidden: RegExp | null = null;
  let isQuote = false;
  for (const line of withFences(text.replace(/^\uFEFF/, '')).split('\n')) {
    const mark = /^\s*(?:[-*] )?(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    if (fence !== null || mark !== undefined) output.push(line);
    else if (hidden) {
      if (hidden.test(line)) hidden = null;
    } else if (/^\s*:[A-Z-]+:\s*$/.test(line) && !/^\s*:END:/.test(line)) hidden = /^\s*:END:\s*$/i;
    else if (/^\s*(?:- )?#\+BEGIN_(?:QUERY|COMMENT)/i.test(line)) hidden = /#\+END_(?:QUERY|COMMENT)/i;
    else if (/^\s*(?:- )?#\+(?:BEGIN|END)_\w+/i.test(line)) {
      const [, indent = '', kind = '', name = ''] = /^(\s*(?:- )?)#\+(BEGIN|END)_(\w+)/i.exec(line)!;
      if (indent.includes('-')) output.push(indent.trimEnd());
      isQuote = /^BEGIN$/i.test(kind) && /^QUOTE$/i.test(name);
    } else if (OWN_PROPERTY.test(line)) {
      if (/^\s*- /.test(line)) output.push(line.replace(/- .*$/, '-'));
    } else {
      const [, indent = '', content = ''] = /^(\s*(?:[-*] (?=\S))?)(.*)$/.exec(line)!;
      output.push(`${indent}${isQuote && !indent.includes('-') ? '> ' : ''}${inlineOf(content, blocks)}`);
    }
  }
  return joinBullets(output);
}

/** Rewrites `#+BEGIN_SRC` and `#+BEGIN_EXAMPLE` blocks as fences, so that their code stays unchanged. */
const withFences = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(
      /^([ \t]*(?:- )?)#\+BEGIN_(SRC|EXAMPLE)[^\n]*\n([^]*?)^[ \t]*#\+END_\2[ \t]*$/gim,
      (_, indent: string, _name, code: string) => `${indent}\`\`\`\n${code}${indent.replace('-', ' ')}\`\`\``,
    );

/** Until 2021 a block was a heading: `## DONE call`. */
function bulletsOf(text: string): string {
  if (/^\s*[-*] /m.test(text) || !/^#{1,6} /m.test(text)) return text;
  let indent = '';
  return text
    .split(/\r\n?|\n/)
    .map((line) => {
      const [, marks, content] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
      if (marks === undefined) return line.trim() === '' ? line : `${indent}  ${line}`;
      indent = '  '.repeat(Math.max(0, marks.length - 2));
      return `${indent}- ${content}`;
    })
    .join('\n');
}

/** A bullet whose first line was left out takes the next one. A bullet without text and children is left out. */
function joinBullets(lines: readonly string[]): string {
  const output: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const bullet = /^(\s*)-\s*$/.exec(line);
    const next = lines[at + 1] ?? '';
    if (!bullet) output.push(line);
    else if (/^\s*[^\s-]/.test(next) && next.search(/\S/) > bullet[1]!.length) {
      output.push(`${bullet[1]}- ${next.trimStart()}`);
      at += 1;
    } else if (next.search(/\S/) > bullet[1]!.length) output.push(line);
  }
  return output.join('\n');
}

function inlineOf(content: string, blocks: Blocks): string {
  const block = (id: string): string => blocks.get(id.toLowerCase()) ?? '';
  return content
    .replace(TASK, (_, heading: string, word: string) =>
      word.startsWith('CANCEL') ? `${heading}Canceled: ` : `${heading}${word === 'DONE' ? '[x]' : '[ ]'} `,
    )
    .replace(
      /^(SCHEDULED|DEADLINE): <([^<>]+)>/,
      (_, word: string, date: string) => `${word[0]}${word.slice(1).toLowerCase()}: ${date}`,
    )
    .replace(new RegExp(String.raw`\[([^[\]]+)\]\(\(\((${UUID})\)\)\)`, 'gi'), '$1')
    .replace(
      new RegExp(String.raw`\{\{embed \(\((${UUID})\)\)\}\}|\(\((${UUID})\)\)`, 'gi'),
      (_, embedded?: string, referred?: string) => block(embedded ?? referred ?? ''),
    )
    .replace(/\{\{embed \[\[([^[\]]+)\]\]\}\}/gi, '$1')
    .replace(/\{\{(?:video|youtube|tweet|twitter|vimeo|bilibili|cloze)\s+([^{}]+)\}\}/gi, '$1')
    .replace(/\{\{[^{}]*\}\}/g, '')
    .replace(/\[([^[\]]+)\]\(\[\[[^[\]]+\]\]\)/g, '$1')
    .replace(/\^\^(?=\S)([^^\n]+)\^\^/g, '$1');
}

/**
 * memos (usememos): the JSON that its API lists, `{ "memos": [...] }`. Old versions answer `createdTs` in seconds and
 * `rowStatus`, new ones `createTime` in UTC and `state`. No version stores a zone.
 */
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  isHidden,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { parseTimestamp } from './timestamps.ts';

const isJson = (file: SourceFile): boolean => /\.json$/i.test(file.path) && !isHidden(file);

export const memos: JournalReader = {
  program: 'memos',
  async detect(files, peek) {
    const json = files.find(isJson);
    return json && /"name"\s*:\s*"memos\/|"(?:rowStatus|createdTs|created_ts)"\s*:/.test(await peek(json)) ? 0.9 : 0;
  },
  read: (files, context) =>
    readEachFile(files.filter(isJson), context, (file, text) => readList(file, text, context.zone)),
};

type Memo = Readonly<Record<string, unknown>>;

/** A list, a page of a list, or one memo. */
function memosIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value))
    return value.flatMap((item) => (Array.isArray(item) || hasList(item) ? memosIn(item) : [item]));
  const { memos: listed, data } = Object(value) as Memo;
  if (Array.isArray(listed)) return listed;
  return Array.isArray(data) ? data : [value];
}

const hasList = (value: unknown): boolean => Array.isArray((Object(value) as Memo)['memos']);

function* readList(file: SourceFile, text: string, zone: string): Generator<JournalEntry | Skipped> {
  const content: unknown = JSON.parse(text);
  for (const [index, value] of memosIn(content).entries())
    yield readMemo(Object(value) as Memo, value === content ? file.path : `${file.path}, memo ${index + 1}`, zone);
}

function readMemo(memo: Memo, source: string, zone: string): JournalEntry | Skipped {
  const { content, state, rowStatus } = memo;
  if (typeof content !== 'string') return skip(source, 'broken');
  if (state === 'DELETED' || rowStatus === 'DELETED') return skip(source, 'trashed');
  const stored = [
    memo['displayTime'],
    memo['createTime'],
    memo['displayTs'],
    memo['createdTs'],
    memo['created_ts'],
  ].filter((value) => value !== undefined && value !== null && value !== 0 && value !== '');
  const time = stored.map((value) => parseTimestamp(value, zone)).find((local) => local !== null);
  if (!time) return skip(source, stored.length > 0 ? 'invalidDate' : 'noDate');
  const files =
    [memo['attachments'], memo['resources'], memo['resourceList']].find((list) => Array.isArray(list)) ?? [];
  // memos shows the start of another memo for `[[memos/id]]`. The export has no more than the reference.
  const plain = plainMarkdown(content.replace(/!?\[\[(?:memos|resources)\/[^[\]\n]*\]\]/g, ''));
  if (plain.text.trim() === '' && plain.pictures + (files as unknown[]).length === 0) return skip(source, 'empty');
  return {
    kind: 'entry',
    ...time,
    title: null,
    body: { format: 'markdown', text: plain.text.trim() },
    source,
    pictures: plain.pictures + (files as unknown[]).length,
  };
}

/**
 * Diaro: a zip with `DiaroBackup.xml`, which holds tables of rows. An entry stores its instant in milliseconds and the
 * offset of its zone.
 */
import { stringOf, titleOf } from './json-fields.ts';
import { entryTime } from './timestamps.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { attributeOf, contentOf, tagsOf } from './markup.ts';

const isXml = ({ path }: SourceFile): boolean => /\.xml$/i.test(path);
const isEncrypted = ({ path }: SourceFile): boolean => /\.denc$/i.test(path);

export const diaro: JournalReader = {
  program: 'Diaro',
  async detect(files, peek) {
    if (files.some(({ path }) => /(?:^|\/)DiaroBackup\.(?:xml|denc)$/i.test(path))) return 0.95;
    const [file] = files.filter(isXml);
    return file && /<table name="diaro_\w+"/.test(await peek(file)) ? 0.95 : 0;
  },
  async *read(files, context) {
    for (const { path } of files.filter(isEncrypted)) yield skip(path, 'encrypted');
    yield* readEachFile(files.filter(isXml), context, (file, text) => readBackup(file.path, text, context.zone));
  },
};

type Row = ReadonlyMap<string, string>;

function* readBackup(path: string, xml: string, zone: string): Generator<JournalEntry | Skipped> {
  const attachments = new Map<string, number>();
  const entries: Row[] = [];
  for (const { table, row } of rowsOf(xml)) {
    const entry = row.get('entry_uid') ?? '';
    if (table === 'diaro_entries') entries.push(row);
    else if (table === 'diaro_attachments') attachments.set(entry, (attachments.get(entry) ?? 0) + 1);
  }
  if (!/<\/data>\s*$/.test(xml)) yield skip(path, 'broken');
  for (const [index, row] of entries.entries())
    yield readEntry(row, `${path}, entry ${index + 1}`, attachments.get(row.get('uid') ?? '') ?? 0, zone);
}

function readEntry(row: Row, source: string, pictures: number, zone: string): JournalEntry | Skipped {
  const date = row.get('date')?.trim() ?? '';
  if (date === '') return skip(source, 'noDate');
  const local = entryTime(Number(date), row.get('tz_offset'), zone);
  if (!local) return skip(source, 'invalidDate');
  const title = titleOf(row.get('title'));
  const text = stringOf(row.get('text'));
  if (title === null && text.trim() === '' && pictures === 0) return skip(source, 'empty');
  return { kind: 'entry', ...local, title, body: { format: 'text', text }, source, pictures };
}

/** Texts are escaped or in CDATA sections, so the tags of a field enclose the whole text. */
function* rowsOf(xml: string): Generator<{ table: string; row: Row }> {
  let table = '';
  let row: Map<string, string> | null = null;
  let field: { name: string; end: number } | null = null;
  for (const tag of tagsOf(xml)) {
    const { name, kind, attributes } = tag;
    if (name === 'table') table = attributeOf(attributes, 'name') ?? attributeOf(attributes, 'title') ?? '';
    else if (name === 'r') {
      if (row && kind === 'end') yield { table, row };
      row = kind === 'start' ? new Map() : null;
    } else if (kind === 'start') field = tag;
    else {
      if (field?.name === name && kind === 'end') row?.set(name, contentOf(xml.slice(field.end, tag.start)));
      field = null;
    }
  }
}

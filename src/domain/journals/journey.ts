/**
 * Journey: a zip with one JSON file per entry, and its pictures. The text is HTML, and in old exports Markdown. The
 * entry's zone is stored beside its instant: milliseconds in `date_journal`, since 2024 a text in `dateOfJournal`.
 */
import { fieldsOf, isHtml, listOf, stringOf, type Fields } from './json-fields.ts';
import { entryTime } from './timestamps.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  isJson,
  jsonStarts,
  readEachFile,
  skip,
} from './journal-reader.ts';

const DATE_FIELD = /"(?:date_journal|dateOfJournal)"\s*:/;

export const journey: JournalReader = {
  program: 'Journey',
  async detect(files, peek) {
    for await (const head of jsonStarts(files, peek)) if (DATE_FIELD.test(head)) return 0.95;
    return 0;
  },
  read: (files, context) =>
    readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const content: unknown = JSON.parse(text);
      if (!Array.isArray(content)) yield readEntry(fieldsOf(content), path, context.zone);
      for (const [index, entry] of listOf(content).entries())
        yield readEntry(fieldsOf(entry), `${path}, entry ${index + 1}`, context.zone);
    }),
};

function readEntry(entry: Fields, source: string, zone: string): JournalEntry | Skipped {
  const { text, type, timezone, encrypted } = entry;
  const written = entry['date_journal'] ?? entry['dateOfJournal'];
  if (written === undefined || written === null || written === '') return skip(source, 'noDate');
  const local = entryTime(written, timezone, zone);
  if (!local) return skip(source, 'invalidDate');
  if (encrypted === true) return skip(source, 'encrypted');
  const body = stringOf(text);
  const pictures = listOf(entry['photos'] ?? entry['attachments']).length;
  if (body.trim() === '' && pictures === 0) return skip(source, 'empty');
  const format = type === 'html' || isHtml(body) ? 'html' : 'markdown';
  return { kind: 'entry', ...local, title: null, body: { format, text: body }, source, pictures };
}

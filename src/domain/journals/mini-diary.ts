/**
 * Mini Diary: one JSON file, `{ "metadata": { "application": "Mini Diary" }, "entries": { "2024-05-01": {...} } }`,
 * with Markdown. Mini Diarium writes the same shape with HTML, and newer versions a list of entries with a `date`.
 */
import { isDay } from '../day/day.ts';
import { fieldsOf, isHtml, listOf, stringOf, titleOf } from './json-fields.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  isJson,
  jsonStarts,
  readEachFile,
  skip,
} from './journal-reader.ts';

export const miniDiary: JournalReader = {
  program: 'Mini Diary',
  async detect(files, peek) {
    for await (const head of jsonStarts(files, peek)) {
      if (/"application"\s*:\s*"Mini Diar(?:y|ium)"/.test(head)) return 0.95;
      if (/"entries"\s*:\s*\{\s*"\d{4}-\d{2}-\d{2}"\s*:\s*\{/.test(head)) return 0.8;
    }
    return 0;
  },
  read: (files, context) =>
    readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const { entries } = fieldsOf(JSON.parse(text));
      if (typeof entries !== 'object' || entries === null) {
        yield skip(path, 'broken');
        return;
      }
      const dated: (readonly [unknown, unknown])[] = Array.isArray(entries)
        ? entries.map((entry: unknown) => [fieldsOf(entry)['date'], entry])
        : Object.entries(entries).flatMap(([date, day]: [string, unknown]) =>
            Array.isArray(day) ? day.map((entry: unknown) => [date, entry] as const) : [[date, day] as const],
          );
      for (const [index, [date, entry]] of dated.entries())
        yield readEntry(stringOf(date), entry, `${path}, ${stringOf(date) || `entry ${index + 1}`}`);
    }),
};

const PICTURE = /<img\b[^<>]*>/gi;

function readEntry(date: string, entry: unknown, source: string): JournalEntry | Skipped {
  const { title, text } = fieldsOf(entry);
  if (date === '') return skip(source, 'noDate');
  if (!isDay(date)) return skip(source, 'invalidDate');
  const body = stringOf(text);
  if (titleOf(title) === null && body.trim() === '') return skip(source, 'empty');
  const format = isHtml(body) ? 'html' : 'markdown';
  return {
    kind: 'entry',
    day: date,
    time: null,
    title: titleOf(title),
    body: { format, text: body },
    source,
    pictures: format === 'html' ? listOf(body.match(PICTURE)).length : 0,
  };
}

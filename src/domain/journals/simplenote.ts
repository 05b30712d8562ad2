/**
 * Simplenote: `source/notes.json` in a zip, beside a text file per note with the same text. The first line is the
 * title. Stores instants, no zones.
 */
import { fieldsOf, listOf, stringOf, type Fields } from './json-fields.ts';
import { noteTime } from './timestamps.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  isJson,
  jsonStarts,
  readEachFile,
  skip,
} from './journal-reader.ts';

export const simplenote: JournalReader = {
  program: 'Simplenote',
  async detect(files, peek) {
    for await (const head of jsonStarts(files, peek)) if (/"activeNotes"\s*:\s*\[/.test(head)) return 0.95;
    return 0;
  },
  owns(files) {
    const roots = files.flatMap(({ path }) => /^((?:.*\/)?)source\/notes\.json$/.exec(path)?.slice(1) ?? []);
    return ({ path }) => /\.txt$/i.test(path) && roots.some((root) => path.startsWith(root));
  },
  read: (files, context) =>
    readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const { activeNotes, trashedNotes } = fieldsOf(JSON.parse(text));
      if (!Array.isArray(activeNotes)) yield skip(path, 'broken');
      for (const [index, note] of listOf(activeNotes).entries())
        yield readNote(fieldsOf(note), `${path}, note ${index + 1}`, context.zone);
      for (const note of listOf(trashedNotes)) {
        const [title = ''] = stringOf(fieldsOf(note)['content']).trim().split(/\r?\n/);
        yield skip(title === '' ? path : `${path}, ${title.slice(0, 60)}`, 'trashed');
      }
    }),
};

/** `[words](simplenote://note/ID)` leads to another note. */
const NOTE_LINK = /(?<!!)\[((?:\\.|[^[\]\\\n])*)\]\(simplenote:[^()\s]*\)/g;

function readNote(
  { content, creationDate, lastModified, markdown }: Fields,
  source: string,
  zone: string,
): JournalEntry | Skipped {
  const text = stringOf(content).replace(NOTE_LINK, '$1').trim();
  if (text === '') return skip(source, 'empty');
  const [firstLine = ''] = text.split('\n');
  const created = creationDate ?? lastModified;
  const time = noteTime(firstLine.replace(/^#+ /, ''), created, zone);
  if (!time) return skip(source, created === undefined ? 'noDate' : 'invalidDate');
  const { isDatedTitle, ...local } = time;
  const body = isDatedTitle ? text.slice(firstLine.length).trim() : text;
  if (body === '') return skip(source, 'empty');
  const format = markdown === true ? 'markdown' : 'text';
  return { kind: 'entry', ...local, title: null, body: { format, text: body }, source, pictures: 0 };
}

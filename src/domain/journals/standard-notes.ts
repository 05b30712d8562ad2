/**
 * Standard Notes: the decrypted backup, `Standard Notes Backup and Import File.txt` in a zip beside a text file per
 * note. Its content is JSON, `{ "version": "004", "items": [...] }`. Stores instants, no zones.
 */
import { fieldsOf, isHtml, listOf, stringOf, titleOf, type Fields } from './json-fields.ts';
import { noteTime } from './timestamps.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { lexicalToHtml, type RichText } from './markup.ts';

const ITEM_COPY = /(?:^|\/)Items\/[^/]+\/[^/]+$/i;
const isBackup = ({ path }: SourceFile): boolean => /\.(?:txt|json)$/i.test(path) && !ITEM_COPY.test(path);

export const standardNotes: JournalReader = {
  program: 'Standard Notes',
  async detect(files, peek) {
    const [named] = files.filter(({ path }) => /(?:^|\/)Standard Notes [^/]*\.txt$/i.test(path));
    for (const file of named ? [named] : files.filter(isBackup).slice(0, 5)) {
      const head = await peek(file);
      if (/"items"\s*:\s*\[/.test(head) && /"(?:content_type|items_key_id|enc_item_key)"\s*:/.test(head)) return 0.95;
    }
    return 0;
  },
  owns: () => (file) => ITEM_COPY.test(file.path),
  read: (files, context) =>
    readEachFile(files.filter(isBackup), context, function* ({ path }, text) {
      const { items } = fieldsOf(JSON.parse(text));
      if (!Array.isArray(items)) yield skip(path, 'broken');
      for (const [index, item] of listOf(items).entries()) {
        const fields = fieldsOf(item);
        if (fields['content_type'] === 'Note' && fields['deleted'] !== true)
          yield readNote(fields, `${path}, item ${index + 1}`, context.zone);
      }
    }),
};

const EPOCH = /^1970-01-01T00:00:00/;

function readNote(item: Fields, source: string, zone: string): JournalEntry | Skipped {
  // Encrypted content is a string: "004:...".
  if (typeof item['content'] === 'string') return skip(source, 'encrypted');
  const content = fieldsOf(item['content']);
  const title = stringOf(content['title']);
  const named = title.trim() === '' ? source : `${source}, ${title.trim().slice(0, 60)}`;
  if (content['trashed'] === true) return skip(named, 'trashed');
  const body = readBody(content);
  if (!body) return skip(named, 'notText');
  const created = [item['created_at'], item['updated_at']].find(
    (value) => stringOf(value) !== '' && !EPOCH.test(stringOf(value)),
  );
  const time = noteTime(title, created, zone);
  if (!time) return skip(named, created === undefined ? 'noDate' : 'invalidDate');
  const { isDatedTitle, ...local } = time;
  const heading = isDatedTitle ? null : titleOf(title);
  if (heading === null && body.text.trim() === '' && body.pictures === 0) return skip(named, 'empty');
  const { pictures, ...rest } = body;
  return { kind: 'entry', ...local, title: heading, body: rest, source: named, pictures };
}

type Body = { format: 'markdown' | 'html' | 'text'; text: string; pictures: number };

/** Null for sheets and for stored passwords (`authentication`), which must not become readable text. */
function readBody(content: Fields): Body | null {
  const text = stringOf(content['text']);
  const editor = stringOf(content['editorIdentifier']);
  const type = stringOf(content['noteType']) || (/plain-text/.test(editor) ? 'plain-text' : '');
  const plain = { format: 'text', text, pictures: 0 } as const;
  switch (type) {
    case 'authentication':
    case 'spreadsheet':
      return null;
    case 'plain-text':
    case 'code':
      return plain;
    case 'rich-text':
      return isHtml(text) ? { format: 'html', text, pictures: text.match(/<img\b/gi)?.length ?? 0 } : plain;
    default: {
      const rich = readState(content['text']);
      return rich
        ? { format: 'html', text: rich.html, pictures: rich.pictures }
        : { format: 'markdown', text, pictures: 0 };
    }
  }
}

/** The state of the Super editor, or of the advanced check list. Null if the text is neither. */
function readState(text: unknown): RichText | null {
  if (typeof text !== 'string' || !text.startsWith('{')) return null;
  try {
    const { root, groups } = fieldsOf(JSON.parse(text));
    if (typeof root === 'object' && root !== null) return lexicalToHtml(root);
    if (!Array.isArray(groups)) return null;
    const paragraph = (words: string): unknown => ({ type: 'paragraph', children: [{ type: 'text', text: words }] });
    const nodes = groups.map(fieldsOf).flatMap(({ name, tasks }) => [
      paragraph(stringOf(name)),
      {
        type: 'list',
        children: listOf(tasks).map((task) => {
          const { description, completed } = fieldsOf(task);
          return {
            type: 'listitem',
            checked: completed === true,
            children: [{ type: 'text', text: stringOf(description) }],
          };
        }),
      },
    ]);
    return lexicalToHtml({ children: nodes });
  } catch {
    return null;
  }
}

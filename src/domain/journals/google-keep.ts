/** Google Keep (Takeout): a JSON file per note, beside an HTML file with the same text. Stores instants, no zones. */
import { escapeHtml } from '../log/entry-html.ts';
import { fieldsOf, listOf, stringOf, titleOf, type Fields } from './json-fields.ts';
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
import { checkBox } from './markup.ts';

/** Takeout writes files with label names and settings beside the notes. */
const isBesideNotes = (path: string): boolean => /(?:^|\/)(?:Keep\/|Labels\.json$)/i.test(path);
const NOTE_FIELDS = ['isTrashed', 'userEditedTimestampUsec', 'textContent', 'listContent'];
const isNote = (note: Fields): boolean => NOTE_FIELDS.some((field) => field in note);

export const googleKeep: JournalReader = {
  program: 'Google Keep',
  async detect(files, peek) {
    for await (const head of jsonStarts(files, peek))
      if (/"(?:userEditedTimestampUsec|isTrashed)"\s*:/.test(head)) return 0.95;
    // Fields have no fixed order: a long text can stand before these, outside of what `peek` reads.
    return files.some(({ path }) => /(?:^|\/)Takeout\/Keep\/[^/]+\.json$/.test(path)) ? 0.9 : 0;
  },
  owns: () => (file) => /(?:^|\/)Takeout\/(?:Keep\/[^/]+\.(?:html|txt|csv)|archive_browser\.html)$/.test(file.path),
  read: (files, context) =>
    readEachFile(files.filter(isJson), context, function* ({ path }, text) {
      const note = fieldsOf(JSON.parse(text));
      if (isNote(note)) yield readNote(note, path, context.zone);
      else if (!isBesideNotes(path)) yield skip(path, 'unknown');
    }),
};

function readNote(note: Fields, source: string, zone: string): JournalEntry | Skipped {
  const { isTrashed, title, createdTimestampUsec, userEditedTimestampUsec, attachments } = note;
  if (isTrashed === true) return skip(source, 'trashed');
  const microseconds = [createdTimestampUsec, userEditedTimestampUsec].find((value) => Number(value) > 0);
  const time = noteTime(stringOf(title), microseconds === undefined ? undefined : Number(microseconds) / 1000, zone);
  if (!time) return skip(source, microseconds === undefined ? 'noDate' : 'invalidDate');
  const { isDatedTitle, ...local } = time;
  const body = readBody(note);
  const pictures = listOf(attachments).length;
  const heading = isDatedTitle ? null : titleOf(title);
  if (heading === null && body.text.trim() === '' && pictures === 0) return skip(source, 'empty');
  return { kind: 'entry', ...local, title: heading, body, source, pictures };
}

/** HTML that shows more than the plain text beside it. */
const isFormatted = (html: string): boolean =>
  /font-weight:\s*(?:bold|[6-9]00)|font-style:\s*italic|text-decoration:[^;"]*(?:underline|line-through)|<h[1-6]\b/i.test(
    html,
  );

/** A note has either a text or a list, and below it cards for links. Links that the text repeats are left out. */
function readBody({ textContent, textContentHtml, listContent, annotations }: Fields): {
  format: 'html' | 'text';
  text: string;
} {
  const items = listOf(listContent).map(fieldsOf);
  const words = [stringOf(textContent), ...items.map(({ text }) => stringOf(text))].join('\n');
  const links = listOf(annotations)
    .map(fieldsOf)
    .filter(({ url }) => stringOf(url) !== '' && !words.includes(stringOf(url)))
    .map(({ title, url }) => [stringOf(title), stringOf(url)].filter((part) => part !== '').join(': '));
  const html = stringOf(textContentHtml);
  if (items.length === 0 && !isFormatted(html))
    return { format: 'text', text: [stringOf(textContent), ...links].filter((line) => line !== '').join('\n') };
  const list = items
    .map(({ text, textHtml, isChecked }) => {
      const rich = stringOf(textHtml);
      const inner = isFormatted(rich) ? rich.replace(/<\/?p\b[^<>]*>/gi, '') : escapeHtml(stringOf(text));
      return `<li>${checkBox(isChecked === true)}${inner}</li>`;
    })
    .join('');
  const cards = links.map((link) => `<p>${escapeHtml(link)}</p>`).join('');
  const main = items.length > 0 ? `<ul>${list}</ul>` : html;
  return { format: 'html', text: main + cards };
}

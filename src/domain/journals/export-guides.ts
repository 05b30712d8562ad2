/** Texts of the import screen: how each program exports its entries, why an import stops, what unknown files may be. */
import type { SourceFile } from './journal-reader.ts';

/** The name of a program, and the export that the user must choose in it. */
export const EXPORT_GUIDES: readonly (readonly [program: string, steps: string])[] = [
  ['Apple Journal', 'Settings, Apps, Journal, Export: the zip or its folder'],
  ['Bear', 'Export notes as Markdown or text bundles'],
  ['DailyTxT', 'The decrypted months (2024/05.json), or the HTML export'],
  ['Day One', 'Export as JSON or plain text: the zip'],
  ['Daylio', 'Export entries as CSV'],
  ['Diarium', 'Export as JSON, text or HTML: the zip'],
  ['Diaro', 'A backup without encryption: the zip'],
  ['Evernote', 'Export notes as ENEX'],
  ['Google Keep', 'Google Takeout, Keep: the zip or its folder'],
  ['Joplin', 'Export as JEX, RAW, or Markdown with front matter'],
  ['Journey', 'Export: the zip'],
  ['jrnl', 'The journal’s text file, or an export as JSON, YAML or text'],
  ['Logseq', 'The folder of the graph'],
  ['memos', 'The answers of its API as JSON'],
  ['Mini Diary', 'Export as JSON'],
  ['Notion', 'Export as Markdown & CSV, or as HTML: the zip'],
  ['Obsidian', 'The folder of your daily notes'],
  ['Org mode', 'The date tree, or the files of its days'],
  ['RedNotebook', 'The folder with its monthly files'],
  ['Roam Research', 'Export all as JSON: the zip'],
  ['Simplenote', 'Export notes: the zip'],
  ['Standard Notes', 'A decrypted backup'],
  ['StoryPad', 'A backup as JSON, or the text export'],
  ['Any table', 'A CSV, or a list in JSON, with dates and texts'],
  ['Any text', 'A line such as # 2024-05-01 above each day, or one file a day, named 2024-05-01.md'],
];

export const IMPORT_PROBLEMS = {
  tooLarge: 'is larger than 2 GB. Export it in parts, for example one year at a time.',
  zipRatio:
    'unpacks to more than 200 times its size, so it was not opened. Unpack it and choose only the journal’s own files.',
  zipTotal:
    'unpacks to more than 1 GB of text, so it was not opened. Unpack it and choose only the journal’s own files.',
  brokenZip: 'is damaged and cannot be unpacked. Export it again, or unpack it and choose the folder.',
  encryptedZip: 'is protected by a password. Export it without one, or unpack it and choose the folder.',
  tooManyFiles: 'More than 50,000 files were chosen. Choose only the folder of the journal.',
  tooManyDays: 'These files contain more than 40,000 days, which is the limit.',
  noFiles: 'There is no file in this folder.',
  notLoaded: 'The page could not load what reads these files. Check your connection and try again.',
  unreadable: 'These files could not be read. They may have been moved or changed since you chose them.',
} as const;

const DATED = 'Save it as plain text or Markdown, with a line such as # 2024-05-01 above each day.';
const OTHER_FORMAT = 'Export JSON, Markdown, HTML or plain text from the program that wrote it.';

const MEDIA = /\.(?:jpe?g|png|gif|heic|webp|avif|tiff?|mp4|mov|m4a|mp3|wav|aac)$/i;

/** Describes a file by its extension, and says which one to choose instead. */
const KINDS: readonly (readonly [extensions: RegExp, text: string])[] = [
  [
    /\.(?:dayone2?)$/i,
    'This looks like a backup of Day One. In Day One, export your journals as JSON and choose the zip.',
  ],
  [/\.(?:exb|reminderdb)$/i, 'This looks like a database of Evernote. In Evernote, export your notes as ENEX.'],
  [/\.(?:one|onepkg)$/i, `This looks like a notebook of OneNote. ${DATED}`],
  [/\.daylio$/i, 'This looks like a backup of Daylio. In Daylio, export your entries as CSV.'],
  [/\.(?:diary|diarium)$/i, 'This looks like a backup of Diarium. In Diarium, export your entries as JSON or text.'],
  [/\.(?:sqlite3?|db|realm|sdf|mdb)$/i, `This looks like a database. ${OTHER_FORMAT}`],
  [/\.pdf$/i, `A PDF holds pages, not days. ${OTHER_FORMAT}`],
  [/\.(?:docx?|odt|rtf|pages)$/i, `This looks like a word processor’s document. ${DATED}`],
  [
    /\.(?:xlsx?|ods|csv|tsv|numbers)$/i,
    'This looks like a table. Save it as CSV with a column named Date and one named Text.',
  ],
  [
    /\.(?:7z|rar|tar|gz|tgz|bz2|xz|zst)$/i,
    'This archive cannot be opened here. Unpack it and choose the folder, or pack it as a zip.',
  ],
  [MEDIA, 'These are pictures or recordings. Logs are text, so there is nothing to import.'],
  [
    /\.(?:ics|vcf)$/i,
    'This looks like a calendar or contacts. Logs are text with a day, which we could not find here.',
  ],
];

/** Says what the files may be that no reader recognises. `peek` decodes the start of a file, `decode` all of it. */
export async function describeUnknownFiles(
  files: readonly SourceFile[],
  peek: (file: SourceFile) => Promise<string>,
  decode: (file: SourceFile) => Promise<string>,
): Promise<string> {
  const visible = files.filter(({ path }) => !/(?:^|\/)[._][^/]*$/.test(path));
  const [first] = visible;
  if (!first) return IMPORT_PROBLEMS.noFiles;
  const start = await peek(first).catch(() => '');
  if (start.includes('<title>Hustle Forge: all logs'))
    return 'This looks like an HTML export of Hustle Forge. Choose its JSON, Markdown or plain text file instead.';
  const isOne = visible.length === 1;
  if (visible.every(({ size }) => size === 0)) return isOne ? 'This file is empty.' : 'These files are empty.';
  if (isOne && MEDIA.test(first.path))
    return 'This is a picture or a recording. Logs are text, so there is nothing to import.';
  for (const [extensions, text] of KINDS) if (visible.every(({ path }) => extensions.test(path))) return text;
  if (
    isOne &&
    (/^\s*[{[]\s*["{[\]}]/.test(start) || /\.json$/i.test(first.path)) &&
    !isJson(await decode(first).catch(() => ''))
  )
    return 'This file is damaged: its JSON cannot be read. Export it again.';
  if (visible.some(({ path }) => /\.(?:md|markdown|txt|text)$/i.test(path)))
    return 'We found text, but no dates. Put a line such as # 2024-05-01 above each day, or name each file by its day, such as 2024-05-01.md.';
  if (isOne && start.includes('\0'))
    return 'This is not a text file. Choose the file or the zip that your journal exports: the list below says how.';
  return `We don’t know ${isOne ? 'this file' : 'these files'}. Choose what your journal exports: the list below says how.`;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

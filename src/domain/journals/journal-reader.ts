/**
 * The interface of a reader for another journal's export: one file of this folder per program, listed in `readers.ts`.
 *
 * Readers are pure: they run in a Web Worker (no DOM) and in tests. Their caller converts the bodies to logs (our own
 * export alone yields logs), joins the entries of a day and compares the days with stored logs.
 */
import type { Day } from '../day/day.ts';
import { REFUSALS, type ImportedDay } from '../exported-entry.ts';

/**
 * A file that the user chose, or a member of a chosen zip. `path` is relative to the chosen folder or the zip, with
 * `/`; a reader must not assume that it starts at the export's root, because users choose a folder around it.
 */
export type SourceFile = { path: string; size: number; read: () => Promise<Uint8Array> };

/** Why an entry or a file is left out. Shown beside the source. */
export const SKIP_REASONS = {
  ...REFUSALS,
  trashed: 'In the trash of the other program.',
  encrypted: 'Encrypted. Export it without a password.',
  template: 'A template, not an entry.',
  noDate: 'No date found.',
  ambiguousDate: 'Day and month cannot be told apart in this date.',
  notText: 'This is not a text file.',
  encoding: 'In an old encoding that we don’t know. Save it as UTF-8.',
  broken: 'Damaged, cannot be read.',
  newerVersion: 'Exported by a newer version of Hustle Forge.',
  unknown: 'Not an export that we know.',
  onlyPictures: 'Only pictures, no text.',
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

export type Skipped = { kind: 'skipped'; source: string; reason: SkipReason };

export type JournalEntry = {
  kind: 'entry';
  /** The local day by the entry's own zone; only if the program stores none, by `zone` of the context. */
  day: Day;
  /** `HH:MM` or `HH:MM:SS` on the entry's own clock. Orders the entries of a day; null if the program stores none. */
  time: string | null;
  /** Becomes the first line of the log, unless the body begins with it. Null for an entry without a title. */
  title: string | null;
  body:
    | { format: 'markdown' | 'html' | 'text'; text: string }
    /** HTML of our own export without its date header, untrusted like the others. `exact`: from the JSON export. */
    | { format: 'log'; text: string; exact: boolean };
  /** Shown to the user: the path of the file, and the place of the entry in a file with many; or the entry's date. */
  source: string;
  /** How many pictures, recordings, videos and attachments the entry had. They are left out. */
  pictures: number;
  /** Only our own export has it. */
  coach?: ImportedDay['coach'];
};

export type ReadContext = {
  /**
   * Decodes a file of unknown encoding. Throws an `UnreadableTextError` if the file is not text or its encoding is
   * unknown.
   */
  decode: (file: SourceFile) => Promise<string>;
  /** The user's IANA zone, for programs that store UTC instants without a zone. Never the machine's. */
  zone: string;
};

/** `decode` throws it. A reader reports the file with this reason. */
export class UnreadableTextError extends Error {
  override name = 'UnreadableTextError';
  readonly reason: 'notText' | 'encoding';

  constructor(reason: 'notText' | 'encoding') {
    super(reason);
    this.reason = reason;
  }
}

export type JournalReader = {
  /** The program's name as users know it: "Day One". */
  program: string;
  /** For a reader of several programs: the name of the program that wrote these files, or null if they don't show it. */
  programOf?: (files: readonly Pick<SourceFile, 'path'>[]) => string | null;
  /**
   * How certain it is that the files are this program's, from 0 (not at all) to 1. The most certain reader wins.
   * `peek` decodes the first 4 KB of a file. Look at paths first, and peek into few files only.
   */
  detect: (files: readonly SourceFile[], peek: Peek) => Promise<number>;
  /**
   * Which further files belong to the export, such as copies and settings. No other reader gets them, and the
   * screen does not list them as unread. Pictures in a folder or a zip need no mention.
   */
  owns?: (files: readonly SourceFile[]) => (file: SourceFile) => boolean;
  /** Yields in any order. Never throws for a bad entry or file: it yields a `Skipped`. */
  read: (files: readonly SourceFile[], context: ReadContext) => AsyncGenerator<JournalEntry | Skipped>;
};

/** The name without folders and extension. */
export const fileName = ({ path }: SourceFile): string => path.replace(/^.*\//, '').replace(/\.\w{1,12}$/, '');

/** Copies and settings that macOS, Windows and synchronisation leave in folders. */
export const isHidden = ({ path }: SourceFile): boolean =>
  /(?:^|\/)(?:\.(?!trash\/)|__MACOSX\/|Thumbs\.db$)/i.test(path);

/** Pictures and recordings, and the style sheets, scripts and fonts of HTML exports. */
export const isMedia = ({ path }: SourceFile): boolean =>
  /\.(?:jpe?g|png|gif|heic|heif|webp|avif|tiff?|bmp|svg|mp4|mov|m4v|webm|3gp|m4a|mp3|wav|aac|ogg|opus|caf|css|js|woff2?)$/i.test(
    path,
  );

export const isJson = ({ path }: SourceFile): boolean => /\.json$/i.test(path);

export type Peek = (file: SourceFile) => Promise<string>;

/** The starts of the first JSON files, for `detect`. */
export async function* jsonStarts(files: readonly SourceFile[], peek: Peek): AsyncGenerator<string> {
  for (const file of files.filter(isJson).slice(0, 5)) yield await peek(file);
}

/** The path without the name: the folder and the extension. */
export const fileKind = ({ path }: SourceFile): string => path.replace(/[^/]*?(\.\w{1,12})?$/, '$1');

export const skip = (source: string, reason: SkipReason): Skipped => ({ kind: 'skipped', source, reason });

/**
 * Reads files one after the other. A file that is not text, or on which `readText` throws, becomes a `Skipped`. The
 * next files are still read.
 */
export async function* readEachFile(
  files: readonly SourceFile[],
  context: ReadContext,
  readText: (file: SourceFile, text: string) => Iterable<JournalEntry | Skipped>,
): AsyncGenerator<JournalEntry | Skipped> {
  for (const file of files) {
    if (isHidden(file)) continue;
    try {
      yield* readText(file, await context.decode(file));
    } catch (error) {
      yield skip(file.path, error instanceof UnreadableTextError ? error.reason : 'broken');
    }
  }
}

/** Null if the title is the first line of the text without markup, or a placeholder such as "Untitled". */
export function distinctTitle(title: string | null, text: string): string | null {
  const plain = (line: string): string =>
    line
      .replace(/<[^<>]*>/g, '')
      .replace(/^[\s>#*+=-]+/, '')
      .replace(/(?<![\s#*_:=-])[\s#*_:=-]+$/, '')
      .replace(/[*_`]/g, '')
      .toLowerCase();
  const first = /\S[^\n]*/.exec(text)?.[0] ?? '';
  const isNone = title === null || /^(?:untitled(?: note)?)?$/i.test(plain(title));
  return isNone || plain(title) === plain(first) ? null : title;
}

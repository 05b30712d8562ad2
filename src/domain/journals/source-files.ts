/** Names, skips and dates of source files, for all readers. */
import {
  UnreadableTextError,
  type JournalEntry,
  type ReadContext,
  type Skipped,
  type SkipReason,
  type SourceFile,
} from './journal-reader.ts';

/** The name without folders and extension. */
export const fileName = ({ path }: SourceFile): string => path.replace(/^.*\//, '').replace(/\.\w{1,12}$/, '');

/** Copies and settings that macOS, Windows and synchronisation leave in folders. */
export const isHidden = ({ path }: SourceFile): boolean =>
  /(?:^|\/)(?:\.(?!trash\/)|__MACOSX\/|Thumbs\.db$)/i.test(path);

/** Pictures and recordings, and what a page needs to be shown. */
export const isMedia = ({ path }: SourceFile): boolean =>
  /\.(?:jpe?g|png|gif|heic|heif|webp|avif|tiff?|bmp|svg|mp4|mov|m4v|webm|3gp|m4a|mp3|wav|aac|ogg|opus|caf|css|js|woff2?)$/i.test(
    path,
  );

/** The folder and the extension. */
export const fileKind = ({ path }: SourceFile): string => path.replace(/[^/]*?(\.\w{1,12})?$/, '$1');

export const skip = (source: string, reason: SkipReason): Skipped => ({ kind: 'skipped', source, reason });

/** Reads files one after the other. A file that is no text or that breaks its reader is reported and ends nothing. */
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
      yield skip(file.path, error instanceof UnreadableTextError ? 'notText' : 'broken');
    }
  }
}

/** Null if the title repeats the first line of a text apart from its marks, or if a program made it up. */
export function distinctTitle(title: string | null, text: string): string | null {
  const plain = (line: string): string =>
    line
      .replace(/<[^<>]*>/g, '')
      .replace(/^[\s>#*+=-]+|[\s#*_:=-]+$/g, '')
      .replace(/[*_`]/g, '')
      .toLowerCase();
  const first = /\S[^\n]*/.exec(text)?.[0] ?? '';
  const isNone = title === null || /^(?:untitled(?: note)?)?$/i.test(plain(title));
  return isNone || plain(title) === plain(first) ? null : title;
}

/** Files of another journal in memory, for the tests of `src/domain/journals`. */
import {
  UnreadableTextError,
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
} from '#domain/journals/journal-reader.ts';
import { detectSurest } from '#domain/journals/readers.ts';

export function sourceFiles(contents: Readonly<Record<string, string | Uint8Array>>): SourceFile[] {
  return Object.entries(contents).map(([path, content]) => {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    return { path, size: bytes.length, read: async () => bytes };
  });
}

async function decode(file: SourceFile): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.read());
  } catch {
    throw new UnreadableTextError('notText');
  }
}

const peek = async (file: SourceFile): Promise<string> => new TextDecoder().decode((await file.read()).slice(0, 4096));

export const detectProgram = async (files: readonly SourceFile[]): Promise<string | null> =>
  (await detectSurest(files, peek))?.reader.program ?? null;

/** Everything that a reader yields. `zone` is the user's. */
export async function readFiles(
  reader: JournalReader,
  files: readonly SourceFile[],
  zone = 'UTC',
): Promise<{ entries: JournalEntry[]; skipped: Skipped[] }> {
  const entries: JournalEntry[] = [];
  const skipped: Skipped[] = [];
  for await (const item of reader.read(files, { decode, zone })) {
    if (item.kind === 'entry') entries.push(item);
    else skipped.push(item);
  }
  return { entries, skipped };
}

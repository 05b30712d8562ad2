/** The readers of all programs, and which of them recognises the chosen files. The order has no meaning. */
import type { JournalReader, SourceFile } from './journal-reader.ts';
import { appleJournal } from './apple-journal.ts';
import { evernote } from './evernote.ts';
import { jrnl } from './jrnl.ts';

const READERS: readonly JournalReader[] = [appleJournal, evernote, jrnl];

/** Null if no reader recognises the files. */
export async function detectReader(
  files: readonly SourceFile[],
  peek: (file: SourceFile) => Promise<string>,
): Promise<JournalReader | null> {
  let best: { reader: JournalReader; certainty: number } | null = null;
  for (const reader of READERS) {
    const certainty = await reader.detect(files, peek);
    if (certainty > (best?.certainty ?? 0)) best = { reader, certainty };
  }
  return best?.reader ?? null;
}

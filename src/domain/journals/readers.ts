/** The readers of all programs, and which of them recognises the chosen files. The order has no meaning. */
import type { JournalReader, SourceFile } from './journal-reader.ts';
import { appleJournal } from './apple-journal.ts';
import { dailyTxt } from './dailytxt.ts';
import { dayOne } from './day-one.ts';
import { diarium } from './diarium.ts';
import { diaro } from './diaro.ts';
import { evernote } from './evernote.ts';
import { googleKeep } from './google-keep.ts';
import { joplin } from './joplin.ts';
import { journey } from './journey.ts';
import { jrnl } from './jrnl.ts';
import { logseq } from './logseq.ts';
import { markdownFiles } from './markdown-files.ts';
import { memos } from './memos.ts';
import { miniDiary } from './mini-diary.ts';
import { notion } from './notion.ts';
import { ownExport } from './own-export.ts';
import { redNotebook } from './rednotebook.ts';
import { simplenote } from './simplenote.ts';
import { standardNotes } from './standard-notes.ts';
import { storyPad } from './storypad.ts';

const READERS: readonly JournalReader[] = [
  appleJournal,
  dailyTxt,
  dayOne,
  diarium,
  diaro,
  evernote,
  googleKeep,
  joplin,
  journey,
  jrnl,
  logseq,
  markdownFiles,
  memos,
  miniDiary,
  notion,
  ownExport,
  redNotebook,
  simplenote,
  standardNotes,
  storyPad,
];

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

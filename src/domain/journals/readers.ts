/** The readers of all programs, and which of them reads which of the chosen files. The order has no meaning. */
import { type JournalReader, type Peek, type SourceFile, fileKind, isHidden, isMedia } from './journal-reader.ts';
import { appleJournal } from './apple-journal.ts';
import { datedRows } from './dated-rows.ts';
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
import { roam } from './roam.ts';
import { simplenote } from './simplenote.ts';
import { standardNotes } from './standard-notes.ts';
import { storyPad } from './storypad.ts';

const READERS: readonly JournalReader[] = [
  appleJournal,
  datedRows,
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
  roam,
  simplenote,
  standardNotes,
  storyPad,
];

/** Null if no reader recognises the files. */
export async function detectSurest(files: readonly SourceFile[], peek: Peek) {
  let best: { reader: JournalReader; certainty: number } | null = null;
  for (const reader of READERS) {
    const certainty = await reader.detect(files, peek);
    if (certainty > (best?.certainty ?? 0)) best = { reader, certainty };
  }
  return best;
}

export type Assignment = { reader: JournalReader; files: SourceFile[] };

/** At most so many files of one folder and extension are detected one by one: a vault can have 50,000. */
const MAX_ALONE = 200;
/** The surest reader of all files keeps a file that it recognises with this certainty, even if another is surer. */
const CERTAIN = 0.6;

/**
 * Assigns files to readers. The first assignment is the reader that is surest about all files together. It gets every
 * file that no other reader takes, and may leave some unread. The other assignments are readers with the files that
 * they recognise better. Returns none if no reader recognises a file.
 */
export async function assignReaders(files: readonly SourceFile[], peek: Peek): Promise<Assignment[]> {
  const surest = (await detectSurest(files, peek))?.reader ?? null;
  const isOwned = surest?.owns?.(files) ?? (() => false);
  const others = new Map<JournalReader, SourceFile[]>();
  const counts = new Map<string, number>();
  for (const file of files) {
    if (isHidden(file) || isMedia(file) || isOwned(file)) continue;
    const kind = fileKind(file);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (counts.get(kind)! > MAX_ALONE) continue;
    const alone = await detectSurest([file], peek);
    if (!alone || alone.reader === surest) continue;
    const certainty = surest ? await surest.detect([file], peek) : 0;
    // A note may contain a heading as of our own text exports: that is no reason to take the file.
    const isKept = certainty >= Math.min(CERTAIN, alone.certainty) || (certainty > 0 && alone.reader === ownExport);
    if (!isKept) others.set(alone.reader, [...(others.get(alone.reader) ?? []), file]);
  }
  const taken = new Set([...others.values()].flat());
  for (const [reader, own] of others) {
    const isOwnedToo = reader.owns?.(files) ?? (() => false);
    for (const file of files)
      if (!taken.has(file) && isOwnedToo(file)) {
        taken.add(file);
        own.push(file);
      }
  }
  const media = files.filter((file) => isMedia(file) && !taken.has(file));
  const rest = files.filter((file) => !taken.has(file));
  const isWorthReading = rest.some((file) => !isHidden(file) && !isMedia(file));
  return [
    ...(surest && (others.size === 0 || isWorthReading) ? [{ reader: surest, files: rest }] : []),
    // Some readers count the pictures in an entry's folder.
    ...[...others].map(([reader, own]) => ({ reader, files: [...own, ...media] })),
  ];
}

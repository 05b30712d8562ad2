/** Reads the chosen files: opens zips, finds the reader of each program, and converts entries that need no browser. */
import { describeUnknownFiles, IMPORT_PROBLEMS, isJson } from '#domain/journals/export-guides.ts';
import { type LogEntry, cleanText, toLog } from '#domain/journals/assemble-days.ts';
import {
  UnreadableTextError,
  type JournalEntry,
  type Skipped,
  type SkipReason,
  type SourceFile,
  isHidden,
  isMedia,
  skip,
} from '#domain/journals/journal-reader.ts';
import { assignReaders, type Assignment } from '#domain/journals/readers.ts';
import { ImportRefusedError, isZip, openFiles, type ChosenFile } from './open-files.ts';

/** `isForeignHtml`: `html` is HTML of another program, which the page converts to a log. */
export type ReadEntry = LogEntry & { isForeignHtml: boolean };

export type ReadMessage =
  /** The code of the worker has loaded. */
  | { kind: 'ready' }
  /** Sent by the page itself: the code of the worker could not be loaded, or the worker has failed. */
  | { kind: 'notLoaded' }
  | { kind: 'program'; program: string }
  | { kind: 'batch'; entries: ReadEntry[]; skipped: Skipped[] }
  | { kind: 'refused'; text: string }
  | { kind: 'done' };

export type ReadRequest = { chosen: ChosenFile[]; zone: string };
/** To the worker: some of the files, and at last the zone. */
export type WorkerRequest = Pick<ReadRequest, 'chosen'> | Pick<ReadRequest, 'zone'>;

/** A message of more characters would take the page more than a few milliseconds. */
const BATCH_CHARACTERS = 200_000;
const BATCH_ITEMS = 500;
/** Enough for five items on each day of 100 years. Skipped files count as well. */
const MAX_ENTRIES = 200_000;

/** Never rejects: a failure is a message. */
export async function readJournal({ chosen, zone }: ReadRequest, post: (message: ReadMessage) => void): Promise<void> {
  try {
    await read(chosen, zone, post);
    post({ kind: 'done' });
  } catch (error) {
    const text = error instanceof ImportRefusedError ? error.message : IMPORT_PROBLEMS.unreadable;
    post({ kind: 'refused', text });
  }
}

async function read(chosen: ChosenFile[], zone: string, post: (message: ReadMessage) => void): Promise<void> {
  const opened = await openFiles(chosen);
  const refuseIfBroken = (): void => {
    const problem = opened.problem();
    if (problem) throw problem;
  };
  const decode = async (file: SourceFile): Promise<string> => decodeText(await file.read());
  const starts = new Map<SourceFile, Promise<string>>();
  const peek = (file: SourceFile): Promise<string> => {
    const start = starts.get(file) ?? opened.readStart(file).then(decodeStart, () => '');
    starts.set(file, start);
    return start;
  };
  const batches = createBatches(post);
  try {
    const groups: { isArchive: boolean; files: SourceFile[]; assigned: Assignment[] }[] = [];
    for (const { name, files } of opened.groups) {
      const assigned = await assignReaders(files, peek);
      groups.push({ isArchive: isZip(name), files, assigned });
      if (assigned.length > 0) continue;
      if (isZip(name)) batches.add(skip(name, 'unknown'));
      else
        for (const file of files.filter((one) => !isHidden(one)))
          batches.add(skip(file.path, await reasonOf(file, decode)));
    }
    refuseIfBroken();
    if (groups.every(({ assigned }) => assigned.length === 0)) {
      const files = opened.groups.flatMap((group) => group.files);
      throw opened.damage() ?? new ImportRefusedError(await describeUnknownFiles(files, peek, decode));
    }
    for (const { name, reason } of opened.unopened) batches.add(skip(name, reason));
    const programs = new Set<string>();
    for (const group of groups) {
      for (let { assigned, files } = group; assigned.length > 0;) {
        for (const { reader } of assigned) programs.add(reader.programOf?.(group.files) ?? reader.program);
        post({ kind: 'program', program: listOf([...programs]) });
        const unread = new Set(files);
        for (const { reader, files: own } of assigned) {
          const tracked = own.map((file) => ({
            ...file,
            read() {
              unread.delete(file);
              return file.read();
            },
          }));
          const byPath = new Map(own.map((file) => [file.path, file]));
          for await (const item of reader.read(tracked, { decode, zone })) {
            refuseIfBroken();
            const file = item.kind === 'skipped' ? byPath.get(item.source) : undefined;
            if (file) unread.delete(file);
            const isForeign = file && isDoubted(item) && (await reader.detect([file], peek)) === 0;
            batches.add(isForeign ? skip(file.path, await reasonOf(file, decode)) : item);
          }
          const isOwned = reader.owns?.(files);
          for (const file of files) if (isHidden(file) || isOwned?.(file)) unread.delete(file);
        }
        // A picture in a folder or a zip belongs to an entry, whose reader counts it.
        const left = [...unread].filter((file) => !isMedia(file) || !(group.isArchive || file.path.includes('/')));
        assigned = left.length < files.length ? await assignReaders(left, peek) : [];
        files = left;
        if (assigned.length === 0) for (const file of left) batches.add(skip(file.path, await reasonOf(file, decode)));
      }
    }
    refuseIfBroken();
    batches.flush();
  } finally {
    await opened.close();
  }
}

const listOf = (programs: readonly string[]): string =>
  new Intl.ListFormat('en-US', { type: 'conjunction' }).format(programs);

/** Why no reader knows a file. */
async function reasonOf(file: SourceFile, decode: (file: SourceFile) => Promise<string>): Promise<SkipReason> {
  if (/\.(?:md|markdown|txt|text)$/i.test(file.path)) return file.size === 0 ? 'empty' : 'noDate';
  if (!/\.json$/i.test(file.path)) return 'unknown';
  return isJson(await decode(file).catch(() => '')) ? 'unknown' : 'broken';
}

/** True if the file may be of another program: its reader calls it damaged, or finds no date in a JSON file. */
const isDoubted = (item: JournalEntry | Skipped): boolean =>
  item.kind === 'skipped' && (item.reason === 'broken' || (item.reason === 'noDate' && /\.json$/i.test(item.source)));

function createBatches(post: (message: ReadMessage) => void) {
  let entries: ReadEntry[] = [];
  let skipped: Skipped[] = [];
  let characters = 0;
  let count = 0;
  const flush = (): void => {
    post({ kind: 'batch', entries, skipped });
    [entries, skipped, characters] = [[], [], 0];
  };
  return {
    flush,
    add(item: JournalEntry | Skipped): void {
      count += 1;
      if (count > MAX_ENTRIES) throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyDays);
      if (item.kind === 'skipped') skipped.push(item);
      else {
        const entry = convert(item);
        characters += entry.html.length;
        entries.push(entry);
      }
      if (characters > BATCH_CHARACTERS || entries.length + skipped.length >= BATCH_ITEMS) flush();
    },
  };
}

function convert(item: JournalEntry): ReadEntry {
  const { day, time, title, body, source, pictures, coach = null } = item;
  const isForeignHtml = body.format === 'html';
  const cleanTitle = cleanText(title ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return {
    day,
    time,
    source,
    pictures,
    coach,
    title: cleanTitle === '' ? null : cleanTitle,
    html: body.format === 'html' ? cleanText(body.text) : toLog(body),
    exact: body.format === 'log' && body.exact,
    isForeignHtml,
  };
}

const SAMPLE_BYTES = 4_096;
/** A file is still UTF-8 if it has at most this number of damaged places for each multibyte character. */
const MAX_DAMAGED_PART = 0.1;
/**
 * Tells UTF-16 without a byte order mark: the high bytes of alphabetic scripts are rarely larger than this, those of
 * Chinese are.
 */
const MAX_ALPHABETIC_HIGH_BYTE = 0x27;

/**
 * Decodes a text file of unknown encoding. Returns no replacement character (U+FFFD) that the file does not contain.
 * @throws UnreadableTextError for a binary file, and for text of another script in an encoding of its own
 */
export function decodeText(bytes: Uint8Array): string {
  const label = utf16LabelOf(bytes);
  if (label !== null) return new TextDecoder(label).decode(bytes).replaceAll('\uFFFD', '');
  if (bytes.includes(0)) throw new UnreadableTextError('notText');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decodeDamaged(bytes);
  }
}

/** Decodes the beginning of a file, to recognise the program. Its last character may be cut. */
const decodeStart = (bytes: Uint8Array): string => new TextDecoder(utf16LabelOf(bytes) ?? 'utf-8').decode(bytes);

/**
 * Recognises UTF-16 by its byte order mark, or by the high bytes of its characters: the letters of a script share one,
 * and those of blanks and digits are zero. Chinese needs the mark.
 */
function utf16LabelOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  const high = [0, 0];
  sample.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2]! += 1;
    else if (byte > MAX_ALPHABETIC_HIGH_BYTE) high[index % 2]! += 1;
  });
  const isFirst = (at: number): boolean =>
    zeros[at]! > 0 && zeros[1 - at] === 0 && high[at]! <= (sample.length / 2) * MAX_DAMAGED_PART;
  return isFirst(1) ? 'utf-16le' : isFirst(0) ? 'utf-16be' : null;
}

/** Decodes Windows-1252, or UTF-8 with a few damaged places, whose bytes are left out. */
function decodeDamaged(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  let damaged = 0;
  let multibyte = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0xff_fd) damaged += 1;
    else if (unit > 0x7f) multibyte += 1;
  }
  if (damaged <= multibyte * MAX_DAMAGED_PART) return text.replaceAll('\uFFFD', '');
  const western = new TextDecoder('windows-1252').decode(bytes);
  if (!isWestern(western)) throw new UnreadableTextError('encoding');
  return western;
}

/**
 * Three or more characters outside ASCII side by side. Western words seldom have them, but Cyrillic, Greek or Chinese
 * text that is decoded as Windows-1252 does.
 */
const FOREIGN_WORD = /([^\0-\x7f])(?!\1+(?![^\0-\x7f]))[^\0-\x7f]{2,}/g;
/** A capital or a sign within a word. It suggests an encoding of Eastern Europe, or of an old Mac. */
const FOREIGN_LETTER = /(?<=\p{Ll})[^\p{Ll}\p{P}\s\0-\x7f](?=\p{Ll})/gu;
/** If a larger part of the characters outside ASCII is foreign, the text is not Western. */
const MAX_FOREIGN_PART = 0.15;

function isWestern(text: string): boolean {
  const special = text.match(/[^\0-\x7f]/g)?.length ?? 0;
  const foreign = [...(text.match(FOREIGN_WORD) ?? []), ...(text.match(FOREIGN_LETTER) ?? [])].join('').length;
  return foreign <= special * MAX_FOREIGN_PART;
}

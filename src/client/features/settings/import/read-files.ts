/** Reads the chosen files in a Web Worker, and converts on the page what needs a browser. */
import { assembleDays } from '#domain/journals/assemble-days.ts';
import type { JournalDay, LogEntry } from '#domain/journals/assemble-days.ts';
import { IMPORT_PROBLEMS } from '#domain/journals/export-guides.ts';
import type { Skipped } from '#domain/journals/journal-reader.ts';
import { IMPORT_MAX_DAYS } from '#domain/export/import-plan.ts';
import type { Day } from '#domain/day/day.ts';
import { createYielder } from '../yield-to-main.ts';
import { ImportRefusedError, MAX_CHOSEN_BYTES, MAX_FILES } from './open-files.ts';
import type { ChosenFile } from './open-files.ts';
import type { ReadEntry, ReadMessage, ReadRequest } from './read-journal.ts';

export type ReadImport = { program: string; days: JournalDay[]; skipped: Skipped[] };

/** Starts to read and returns a function that stops. */
export type StartReading = (request: ReadRequest, receive: (message: ReadMessage) => void) => () => void;

const startWorker: StartReading = (request, receive) => {
  const worker = new Worker(new URL('import-worker.ts', import.meta.url), { type: 'module' });
  const refuse = (): void => receive({ kind: 'refused', text: IMPORT_PROBLEMS.unreadable });
  worker.addEventListener('message', ({ data }: MessageEvent<ReadMessage>) => receive(data));
  // A file that cannot be loaded, or the end of the worker's memory.
  worker.addEventListener('error', refuse);
  worker.addEventListener('messageerror', refuse);
  worker.postMessage(request);
  return () => worker.terminate();
};

type Options = {
  /** The user's IANA zone and today. */
  zone: string;
  today: Day;
  signal: AbortSignal;
  onProgress: (program: string, entries: number) => void;
  start?: StartReading;
};

/** @throws ImportRefusedError if the files cannot be imported */
export async function readFiles(
  chosen: readonly ChosenFile[],
  { zone, today, signal, onProgress, start = startWorker }: Options,
): Promise<ReadImport> {
  // Before the files are copied to the worker.
  if (chosen.length > MAX_FILES) throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyFiles);
  const tooLarge = chosen.find(({ file }) => file.size >= MAX_CHOSEN_BYTES);
  if (tooLarge) throw new ImportRefusedError(`${tooLarge.path} ${IMPORT_PROBLEMS.tooLarge}`);

  const yieldIfDue = createYielder();
  const entries: LogEntry[] = [];
  const skipped: Skipped[] = [];
  let program = '';
  for await (const message of messagesOf({ chosen: [...chosen], zone }, start, signal)) {
    if (message.kind === 'program') program = message.program;
    if (message.kind !== 'batch') continue;
    skipped.push(...message.skipped);
    for (const entry of message.entries) {
      entries.push(await convertEntry(entry));
      await yieldIfDue();
    }
    onProgress(program, entries.length);
  }

  const assembling = assembleDays(entries, today);
  for (;;) {
    const step = assembling.next();
    if (step.done) {
      const { days } = step.value;
      if (days.length > IMPORT_MAX_DAYS) throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyDays);
      return { program, days, skipped: [...skipped, ...step.value.skipped] };
    }
    await yieldIfDue();
    signal.throwIfAborted();
  }
}

/** Ends after `done`; stops the worker in any case. */
async function* messagesOf(request: ReadRequest, start: StartReading, signal: AbortSignal) {
  const received: ReadMessage[] = [];
  let wake = (): void => undefined;
  const stop = start(request, (message) => {
    received.push(message);
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      signal.throwIfAborted();
      const message = received.shift();
      if (!message) await new Promise<void>((resolve) => (wake = resolve));
      else if (message.kind === 'refused') throw new ImportRefusedError(message.text);
      else if (message.kind === 'done') return;
      else yield message;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    stop();
  }
}

async function convertEntry({ isForeignHtml, ...entry }: ReadEntry): Promise<LogEntry> {
  if (!isForeignHtml) return entry;
  // Only HTML needs the converter, which is a chunk of the editor's.
  const { htmlToLog } = await import('#client/lib/html-to-log/html-to-log.ts');
  return { ...entry, html: htmlToLog(entry.html).html };
}

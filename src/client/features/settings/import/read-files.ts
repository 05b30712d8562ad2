/** Reads the chosen files in a Web Worker, and converts on the page what needs a browser. */
import type { JournalDay, LogEntry } from '#domain/journals/assemble-days.ts';
import { IMPORT_PROBLEMS } from '#domain/journals/export-guides.ts';
import type { Skipped } from '#domain/journals/journal-reader.ts';
import { IMPORT_MAX_DAYS } from '#domain/journals/import-plan.ts';
import { latestToday } from '#domain/day/day.ts';
import { createYielder } from '../export/read-entries.ts';
import { ImportRefusedError, MAX_FILES, type ChosenFile } from './open-files.ts';
import type { ReadEntry, ReadMessage, ReadRequest, WorkerRequest } from './read-journal.ts';

export type ReadImport = { program: string; days: JournalDay[]; skipped: Skipped[] };

/** Starts to read and returns a function that stops. */
export type StartReading = (request: ReadRequest, receive: (message: ReadMessage) => void) => () => void;

/** The worker's code has this long to load: a server that does not answer causes no `error` event. */
const LOAD_TIMEOUT_MS = 20_000;

/** The page could not load the code that reads the files. Another try may succeed. */
export class ImportNotLoadedError extends ImportRefusedError {
  override name = 'ImportNotLoadedError';
}

const notLoaded = (cause?: unknown): ImportNotLoadedError =>
  new ImportNotLoadedError(IMPORT_PROBLEMS.notLoaded, { cause });

const refuseUnloaded = (cause: unknown): never => {
  throw notLoaded(cause);
};

const startWorker: StartReading = (request, receive) => {
  const worker = new Worker(new URL('import-worker.ts', import.meta.url), { type: 'module' });
  const refuse = (): void => receive({ kind: 'notLoaded' });
  const timer = setTimeout(refuse, LOAD_TIMEOUT_MS);
  worker.addEventListener('message', ({ data }: MessageEvent<ReadMessage>) => {
    clearTimeout(timer);
    receive(data);
  });
  // Fires, for example, if a file of the worker's code cannot be loaded, or if the worker runs out of memory.
  worker.addEventListener('error', refuse);
  worker.addEventListener('messageerror', refuse);
  void postFiles(worker, request);
  return () => {
    clearTimeout(timer);
    worker.terminate();
  };
};

/** The copy of a file waits for the disk: 7,300 files in one message froze the tab for some seconds. */
const FILES_PER_MESSAGE = 10;

async function postFiles(worker: Worker, { chosen, zone }: ReadRequest): Promise<void> {
  const yieldIfDue = createYielder();
  for (let at = 0; at < chosen.length; at += FILES_PER_MESSAGE) {
    worker.postMessage({ chosen: chosen.slice(at, at + FILES_PER_MESSAGE) } satisfies WorkerRequest);
    await yieldIfDue();
  }
  worker.postMessage({ zone } satisfies WorkerRequest);
}

type Options = {
  /** The user's IANA zone. */
  zone: string;
  /** The time of the import. */
  now: Date;
  signal: AbortSignal;
  onProgress: (program: string, entries: number) => void;
  start?: StartReading;
};

/** @throws ImportRefusedError if the files cannot be imported */
export async function readFiles(
  chosen: readonly ChosenFile[],
  { zone, now, signal, onProgress, start = startWorker }: Options,
): Promise<ReadImport> {
  // Only the worker checks the sizes: the first read of a file's size waits for the disk, which takes some seconds for
  // thousands of files.
  if (chosen.length > MAX_FILES) throw new ImportRefusedError(IMPORT_PROBLEMS.tooManyFiles);

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

  // A chunk of its own, because it has the parser of Markdown, which the settings page needs only here.
  const { assembleDays } = await import('#domain/journals/assemble-days.ts').catch(refuseUnloaded);
  const assembling = assembleDays(entries, latestToday(now));
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
      else if (message.kind === 'notLoaded') throw notLoaded();
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
  // Loaded only for HTML, because no other format needs the converter.
  const { htmlToLog } = await import('#client/lib/html-to-log/html-to-log.ts').catch(refuseUnloaded);
  return { ...entry, html: htmlToLog(entry.html, { opensDetails: true }).html };
}

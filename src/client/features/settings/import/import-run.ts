/** Compares the days of an import with the stored logs, sends the chosen ones in batches, and takes an import back. */
import type { Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import { entryText } from '#domain/log/entry-text.ts';
import { STORAGE_FULL_CODE } from '#domain/log/entry.ts';
import type { Refusal } from '#domain/exported-entry.ts';
import {
  buildImportEntry,
  compareDays,
  IMPORT_MAX_ENTRIES,
  IMPORT_REQUEST_BYTES,
  type Choice,
  type ExistingDay,
  type Verdict,
  type ImportEntry,
  type ImportOutcome,
} from '#domain/journals/import-plan.ts';
import type { JournalDay } from '#domain/journals/assemble-days.ts';
import type { Skipped } from '#domain/journals/journal-reader.ts';
import type { FunctionAnswer } from '#client/lib/api/supabase.ts';
import { createPager, createYielder, type EntryReader, type StoredDay, type Progress } from '../export/read-entries.ts';
import type { ReadImport } from './read-files.ts';

export type PlannedDay = { day: JournalDay; verdict: Verdict; own: ExistingDay | undefined };
export type ImportPlan = { program: string; days: PlannedDay[]; skipped: Skipped[] };

/** Compares the days with the stored logs. Keeps a stored log only if the verdict is not `same`, to save memory. */
export async function planImport(
  { program, days: read, skipped }: ReadImport,
  reader: EntryReader,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ImportPlan> {
  const imported = new Map(read.map((day) => [day.date, day]));
  const planned = new Map<Day, PlannedDay>(read.map((day) => [day.date, { day, verdict: 'new', own: undefined }]));
  const openDates = new Set(await reader.dates(signal));
  for (const date of await reader.dates(signal, 'entry_dates')) {
    const day = imported.get(date);
    if (day && !openDates.has(date)) planned.set(date, { day, verdict: 'locked', own: undefined });
  }
  const existing = [...openDates].filter((date) => imported.has(date));
  const yieldIfDue = createYielder();
  if (existing.length > 0) {
    await createPager(reader, existing)(signal, async (rows, done) => {
      for (const row of rows) {
        const day = imported.get(row.date);
        if (day) planned.set(row.date, plannedDay(day, row, program));
        await yieldIfDue();
      }
      onProgress({ done, total: existing.length });
    });
  }
  const days = [...planned.values()].sort((a, b) => (a.day.date < b.day.date ? -1 : 1));
  return { program, days, skipped };
}

function plannedDay(day: JournalDay, row: StoredDay, program: string): PlannedDay {
  const own: ExistingDay = {
    date: row.date,
    content: withoutDateHeader(row.content),
    id: row.id,
    revision: row.revision,
    hasFeedback: row.ai_feedback !== null || row.hustle_score !== null || row.ai_analyzed_at !== null,
  };
  const verdict = compareDays(day, own, program);
  return { day, verdict, own: verdict === 'same' ? undefined : own };
}

type RefusedDay = { date: string; reason: Refusal };
export type ImportSummary = {
  added: Day[];
  feedback: Day[];
  replaced: Day[];
  both: Day[];
  /** Skipped, because they changed on another device after the preview. */
  changed: Day[];
  refused: RefusedDay[];
  /** Days on which the user has a locked log, for example from an earlier import of the files. It stays as it is. */
  locked: Day[];
};

/** The server rejected the request, for example because the user's space is full. */
export class ImportRejected extends Error {
  override name = 'ImportRejected';
}

export type Call = (name: string, body: object) => Promise<FunctionAnswer>;
/** `waitSeconds`: the server has asked to wait, because it is busy or the user's quota of the minute is used up. */
export type RunProgress = Progress & { waitSeconds?: number };

type Deps = {
  plan: ImportPlan;
  choiceOf: (date: Day) => Choice;
  /** Names the import in all of its requests, so that it can be undone. */
  importId: string;
  call: Call;
  /** Reads the current state, to distinguish a lost response from a change on another device. */
  reader: EntryReader;
  wait?: (seconds: number, signal: AbortSignal) => Promise<void>;
};

type Task = { entry: ImportEntry; list: 'added' | 'feedback' | 'replaced' | 'both'; bytes: number };

const willWrite = ({ verdict, day }: PlannedDay, choiceOf: (date: Day) => Choice): boolean =>
  verdict === 'new' || verdict === 'feedback' || (verdict === 'differs' && choiceOf(day.date) !== 'mine');

export const daysToWrite = (plan: ImportPlan, choiceOf: (date: Day) => Choice): Day[] =>
  plan.days.filter((one) => willWrite(one, choiceOf)).map(({ day }) => day.date);

/** How many of the days are too old for the plan: they are written, and wait for an upgrade. */
export const countLocked = (dates: readonly Day[], premium: boolean, today: Day): number =>
  dates.filter((date) => isLocked(date, premium, today)).length;

/** The maximum number of waits in a row for one batch. A minute's quota needs one. */
const MAX_WAITS = 10;
const DEFAULT_WAIT_SECONDS = 5;

export function createImportRun({ plan, choiceOf, importId, call, reader, wait = waitSeconds }: Deps) {
  const total = daysToWrite(plan, choiceOf).length;
  const locked = plan.days.filter(({ verdict }) => verdict === 'locked').map(({ day }) => day.date);
  const summary: ImportSummary = { added: [], feedback: [], replaced: [], both: [], changed: [], refused: [], locked };
  const encoder = new TextEncoder();
  /** Halved after a refusal, because a proxy may accept less than the server. */
  let maxBytes = IMPORT_REQUEST_BYTES;
  let next = 0;
  let done = 0;

  function batch(): { tasks: Task[]; after: number } {
    const tasks: Task[] = [];
    let size = 0;
    let at = next;
    for (; at < plan.days.length && tasks.length < IMPORT_MAX_ENTRIES; at += 1) {
      const { day, own, verdict } = plan.days[at]!;
      const choice = choiceOf(day.date);
      const entry = buildImportEntry(day, own, verdict, choice, plan.program);
      if (!entry) continue;
      const bytes = encoder.encode(JSON.stringify(entry)).length + 1;
      if (tasks.length > 0 && size + bytes > maxBytes) break;
      size += bytes;
      tasks.push({ entry, list: listOf(verdict, choice), bytes });
    }
    return { tasks, after: at };
  }

  return {
    summary,
    total,
    /** A second call after a failure or a cancel resumes. */
    async run(signal: AbortSignal, onProgress: (progress: RunProgress) => void): Promise<void> {
      onProgress({ done, total });
      while (next < plan.days.length) {
        const { tasks, after } = batch();
        if (tasks.length > 0 && !(await sendBatch(tasks, signal, onProgress))) {
          // Half of the refused batch. `batch` takes at least one day, even if the day is larger.
          maxBytes = Math.floor(tasks.reduce((sum, { bytes }) => sum + bytes, 0) / 2);
          continue;
        }
        next = after;
        done += tasks.length;
        onProgress({ done, total });
        signal.throwIfAborted();
      }
    },
  };

  /** False if the request is too large for a proxy and can be divided. */
  async function sendBatch(
    tasks: readonly Task[],
    signal: AbortSignal,
    onProgress: (progress: RunProgress) => void,
  ): Promise<boolean> {
    const entries = tasks.map(({ entry }) => entry);
    const send = () => call('import-entries', { importId, program: plan.program, entries });
    const answer = await sendPatiently(send, { done, total }, { signal, onProgress, wait });
    if (answer.status === 413 && answer['code'] !== STORAGE_FULL_CODE) {
      if (tasks.length > 1) return false;
      summary.refused.push({ date: tasks[0]!.entry.date, reason: 'tooLong' });
      return true;
    }
    if (!answer.success) throw new ImportRejected(answer.error ?? 'The server did not take these days.');
    await takeOutcomes(tasks, answer['outcomes'] as ImportOutcome[], signal);
    return true;
  }

  async function takeOutcomes(
    tasks: readonly Task[],
    outcomes: readonly ImportOutcome[],
    signal: AbortSignal,
  ): Promise<void> {
    const taskByDate = new Map(tasks.map((task) => [task.entry.date as string, task]));
    const conflicts: Task[] = [];
    for (const outcome of outcomes) {
      const task = taskByDate.get(outcome.date);
      if (outcome.outcome === 'refused') summary.refused.push({ date: outcome.date, reason: outcome.reason });
      else if (task && outcome.outcome === 'written') summary[task.list].push(outcome.date);
      else if (task) conflicts.push(task);
    }
    if (conflicts.length > 0) await resolveConflicts(conflicts, signal);
  }

  /**
   * After a lost response, the server reports our own write as `changed`; comparing the text detects such a write. A
   * locked day cannot be compared: it had no log when the import was planned, so the write is most likely ours.
   */
  async function resolveConflicts(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const dates = tasks.map(({ entry }) => entry.date).sort();
    const openDates = new Set(await reader.dates(signal).catch((): Day[] => []));
    const allDates = new Set(await reader.dates(signal, 'entry_dates').catch((): Day[] => []));
    const rows = new Map<Day, string>();
    for (const date of dates) {
      if (!openDates.has(date)) continue;
      const found = await reader.days([date], signal).catch(() => []);
      if (found[0]) rows.set(date, entryText(found[0].content));
    }
    for (const { entry, list } of tasks) {
      const { date } = entry;
      const isLockedRow = allDates.has(date) && !openDates.has(date);
      const isOurs = isLockedRow || rows.get(date) === entryText(entry.content);
      summary[isOurs ? list : 'changed'].push(date);
    }
  }
}

function listOf(verdict: Verdict, choice: Choice): Task['list'] {
  if (verdict === 'new') return 'added';
  if (verdict === 'feedback') return 'feedback';
  return choice === 'both' ? 'both' : 'replaced';
}

export type UndoSummary = { undone: number; kept: Day[] };

/** Takes an import back. A second call after a failure resumes, because the server forgets what is undone. */
export async function runUndo(
  importId: string,
  call: Call,
  signal: AbortSignal,
  onProgress: (progress: RunProgress) => void,
  wait = waitSeconds,
): Promise<UndoSummary> {
  const summary: UndoSummary = { undone: 0, kept: [] };
  let progress: RunProgress = { done: 0, total: 0 };
  for (;;) {
    const send = () => call('undo-import', { importId });
    const answer = await sendPatiently(send, progress, { signal, onProgress, wait });
    if (!answer.success) throw new ImportRejected(answer.error ?? 'The server did not undo the import.');
    const remaining = Number(answer['remaining']);
    summary.undone += Number(answer['undone']);
    summary.kept.push(...(answer['kept'] as Day[]));
    const handled = summary.undone + summary.kept.length;
    progress = { done: handled, total: handled + remaining };
    onProgress(progress);
    if (remaining === 0) return summary;
    signal.throwIfAborted();
  }
}

type Patience = {
  signal: AbortSignal;
  onProgress: (progress: RunProgress) => void;
  wait: (seconds: number, signal: AbortSignal) => Promise<void>;
};

/**
 * Sends again if the server is busy or the user's quota is used up, after the time that the server names, at most
 * `MAX_WAITS` times.
 */
async function sendPatiently(
  send: () => ReturnType<Call>,
  progress: RunProgress,
  { signal, onProgress, wait }: Patience,
): ReturnType<Call> {
  let answer = await send();
  for (let waits = 0; (answer.status === 429 || answer.status === 503) && waits < MAX_WAITS; waits += 1) {
    const seconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS;
    onProgress({ ...progress, waitSeconds: seconds });
    await wait(seconds, signal);
    onProgress(progress);
    answer = await send();
  }
  return answer;
}

async function waitSeconds(seconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  signal.throwIfAborted();
}

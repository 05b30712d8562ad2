/** Reads an export file in the browser, compares it with the stored logs, and sends the chosen days in batches. */
import { dayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import type { ImportedDay } from '#domain/export/exported-entry.ts';
import { buildImportEntry, compareDays, IMPORT_FILE_MAX_BYTES } from '#domain/export/import-plan.ts';
import type { Choice, ExistingDay, ImportedFile, RefusedDay, Verdict } from '#domain/export/import-plan.ts';
import { IMPORT_BATCH_CHARACTERS, IMPORT_MAX_ENTRIES } from '#domain/export/import-wire.ts';
import type { ImportAnswer, ImportEntry } from '#domain/export/import-wire.ts';
import { parseExportFile, UnreadableFileError } from '#domain/export/read-file.ts';
import { createPager } from '../export/read-entries.ts';
import type { EntryReader, StoredDay } from '../export/read-entries.ts';
import type { Progress } from '../export/export-run.ts';
import { createYielder } from '../yield-to-main.ts';

export type PlannedDay = { day: ImportedDay; verdict: Verdict; own: ExistingDay | undefined };
export type ImportPlan = { name: string; days: PlannedDay[]; refused: RefusedDay[] };

/** @throws UnreadableFileError if the file is not an export */
export async function readImport(file: File, signal: AbortSignal): Promise<ImportedFile> {
  if (file.size > IMPORT_FILE_MAX_BYTES) throw new UnreadableFileError('tooLarge');
  const text = await textOf(file);
  const yieldIfDue = createYielder();
  const reading = parseExportFile(text, dayOf(new Date()));
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await yieldIfDue();
    signal.throwIfAborted();
  }
}

async function textOf(file: File): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A null character means a binary file, such as an archive or an image.
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  throw new UnreadableFileError('notText');
}

/** Compares the file with the stored logs. Keeps a stored log only if the verdict is not `same`, to save memory. */
export async function planImport(
  file: ImportedFile,
  name: string,
  reader: EntryReader,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ImportPlan> {
  const imported = new Map(file.days.map((day) => [day.date, day]));
  const existing = (await reader.dates(signal)).filter((date) => imported.has(date));
  const planned = new Map<Day, PlannedDay>(file.days.map((day) => [day.date, { day, verdict: 'new', own: undefined }]));
  const yieldIfDue = createYielder();
  if (existing.length > 0) {
    await createPager(reader, existing)(signal, async (rows, done) => {
      for (const row of rows) {
        const day = imported.get(row.date);
        if (day) planned.set(row.date, plannedDay(day, row, file.exact));
        await yieldIfDue();
      }
      onProgress({ done, total: existing.length });
    });
  }
  const days = [...planned.values()].sort((a, b) => (a.day.date < b.day.date ? -1 : 1));
  return { name, days, refused: file.refused };
}

function plannedDay(day: ImportedDay, row: StoredDay, exact: boolean): PlannedDay {
  const own: ExistingDay = {
    date: row.date,
    content: withoutDateHeader(row.content),
    id: row.id,
    revision: row.revision,
    hasFeedback: row.ai_feedback !== null || row.hustle_score !== null || row.ai_analyzed_at !== null,
  };
  const verdict = compareDays(day, own, exact);
  return { day, verdict, own: verdict === 'same' ? undefined : own };
}

export type ImportSummary = {
  added: Day[];
  feedback: Day[];
  replaced: Day[];
  both: Day[];
  /** Skipped, because they changed on another device after the preview. */
  changed: Day[];
  refused: RefusedDay[];
};

/** The server rejected the request, for example because the plan has ended. */
export class ImportRejected extends Error {
  override name = 'ImportRejected';
}

type Deps = {
  plan: ImportPlan;
  choiceOf: (date: Day) => Choice;
  send: (entries: ImportEntry[]) => Promise<ImportAnswer>;
  /** Reads the current state, to distinguish a lost response from a change on another device. */
  reader: EntryReader;
};

type Task = { entry: ImportEntry; list: 'added' | 'feedback' | 'replaced' | 'both' };

/** The number of days that an import would write. */
export const daysToWrite = (plan: ImportPlan, choiceOf: (date: Day) => Choice): number =>
  plan.days.filter(({ verdict, day }) => verdict !== 'same' && (verdict !== 'differs' || choiceOf(day.date) !== 'mine'))
    .length;

export function createImportRun({ plan, choiceOf, send, reader }: Deps) {
  const total = daysToWrite(plan, choiceOf);
  const summary: ImportSummary = { added: [], feedback: [], replaced: [], both: [], changed: [], refused: [] };
  let next = 0;
  let done = 0;

  function batch(): { tasks: Task[]; after: number } {
    const tasks: Task[] = [];
    let characters = 0;
    let at = next;
    for (; at < plan.days.length && tasks.length < IMPORT_MAX_ENTRIES; at += 1) {
      const { day, own, verdict } = plan.days[at]!;
      const choice = choiceOf(day.date);
      const entry = buildImportEntry(day, own, verdict, choice);
      if (!entry) continue;
      if (tasks.length > 0 && characters + entry.content.length > IMPORT_BATCH_CHARACTERS) break;
      characters += entry.content.length;
      tasks.push({ entry, list: listOf(verdict, choice) });
    }
    return { tasks, after: at };
  }

  return {
    summary,
    total,
    /** A second call after a failure or a cancel resumes. */
    async run(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<void> {
      onProgress({ done, total });
      while (next < plan.days.length) {
        const { tasks, after } = batch();
        if (tasks.length > 0) await sendBatch(tasks, signal);
        next = after;
        done += tasks.length;
        onProgress({ done, total });
        signal.throwIfAborted();
      }
    },
  };

  async function sendBatch(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const answer = await send(tasks.map(({ entry }) => entry));
    if (!answer.success) throw new ImportRejected(answer.error);
    const taskByDate = new Map(tasks.map((task) => [task.entry.date as string, task]));
    const conflicts: Task[] = [];
    for (const outcome of answer.outcomes) {
      const task = taskByDate.get(outcome.date);
      if (outcome.outcome === 'refused') summary.refused.push({ label: outcome.date, reason: outcome.reason });
      else if (task && outcome.outcome === 'written') summary[task.list].push(outcome.date);
      else if (task) conflicts.push(task);
    }
    if (conflicts.length > 0) await resolveConflicts(conflicts, signal);
  }

  /** After a lost response, the server reports our own write as `changed`; comparing the text detects such a write. */
  async function resolveConflicts(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const dates = tasks.map(({ entry }) => entry.date).sort();
    const rows = new Map<Day, string>();
    for (const date of dates) {
      const found = await reader.days([date], signal).catch(() => []);
      if (found[0]) rows.set(date, withoutDateHeader(found[0].content));
    }
    for (const { entry, list } of tasks) {
      const isOurs = rows.get(entry.date) === withoutDateHeader(entry.content);
      summary[isOurs ? list : 'changed'].push(entry.date);
    }
  }
}

function listOf(verdict: Verdict, choice: Choice): Task['list'] {
  if (verdict === 'new') return 'added';
  if (verdict === 'feedback') return 'feedback';
  return choice === 'both' ? 'both' : 'replaced';
}

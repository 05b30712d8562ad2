/** Reads an export in the browser, compares it with what is stored, and sends what was chosen to the server in batches. */
import { dayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import type { ImportedDay } from '#domain/export/exported-entry.ts';
import { buildImportEntry, compareDays, IMPORT_FILE_MAX_BYTES } from '#domain/export/import-plan.ts';
import type { Choice, ExistingDay, ImportedFile, RefusedDay, Verdict } from '#domain/export/import-plan.ts';
import { IMPORT_BATCH_CHARACTERS, IMPORT_MAX_ENTRIES } from '#domain/export/import-wire.ts';
import type { ImportAnswer, ImportEntry } from '#domain/export/import-wire.ts';
import { parseExportFile, UnreadableFileError } from '#domain/export/read-file.ts';
import { createPager } from '../export/entry-reader.ts';
import type { EntryReader, StoredDay } from '../export/entry-reader.ts';
import type { Progress } from '../export/export-run.ts';
import { createTurns } from '../yield-to-main.ts';

export type PlannedDay = { day: ImportedDay; verdict: Verdict; own: ExistingDay | undefined };
export type ImportPlan = { name: string; days: PlannedDay[]; refused: RefusedDay[] };

/** Throws an `UnreadableFileError` for what is no export. */
export async function readImport(file: File, signal: AbortSignal): Promise<ImportedFile> {
  if (file.size > IMPORT_FILE_MAX_BYTES) throw new UnreadableFileError('tooLarge');
  const text = await textOf(file);
  const turn = createTurns();
  const reading = parseExportFile(text, dayOf(new Date()));
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await turn();
    signal.throwIfAborted();
  }
}

async function textOf(file: File): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // No export holds one: what does is an archive or a picture.
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  throw new UnreadableFileError('notText');
}

/** Only the days that are in the file as well are read, and of those only what differs is kept. */
export async function planImport(
  file: ImportedFile,
  name: string,
  reader: EntryReader,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ImportPlan> {
  const wanted = new Map(file.days.map((day) => [day.date, day]));
  const mine = (await reader.dates(signal)).filter((date) => wanted.has(date));
  const planned = new Map<Day, PlannedDay>(file.days.map((day) => [day.date, { day, verdict: 'new', own: undefined }]));
  const turn = createTurns();
  if (mine.length > 0) {
    await createPager(reader, mine)(signal, async (rows, done) => {
      for (const row of rows) {
        const day = wanted.get(row.date);
        if (day) planned.set(row.date, plannedDay(day, row, file.exact));
        await turn();
      }
      onProgress({ done, total: mine.length });
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
  /** Changed on another device between the look and the write: left as they are. */
  changed: Day[];
  refused: RefusedDay[];
};

/** What somebody was told no by: the plan ended, or there is too much at once. */
export class ImportRefused extends Error {
  override name = 'ImportRefused';
}

type Needs = {
  plan: ImportPlan;
  choiceOf: (date: Day) => Choice;
  send: (entries: ImportEntry[]) => Promise<ImportAnswer>;
  /** Reads days as they are now, to tell a lost answer from a day that somebody else changed. */
  reader: EntryReader;
};

type Task = { entry: ImportEntry; list: 'added' | 'feedback' | 'replaced' | 'both' };

/** How many days an import would write. */
export const daysToWrite = (plan: ImportPlan, choiceOf: (date: Day) => Choice): number =>
  plan.days.filter(({ verdict, day }) => verdict !== 'same' && (verdict !== 'differs' || choiceOf(day.date) !== 'mine'))
    .length;

export function createImportRun({ plan, choiceOf, send, reader }: Needs) {
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
    /** Called again after a failure or a cancel it goes on where it stopped. */
    async run(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<void> {
      onProgress({ done, total });
      while (next < plan.days.length) {
        const { tasks, after } = batch();
        if (tasks.length > 0) await carryOut(tasks, signal);
        next = after;
        done += tasks.length;
        onProgress({ done, total });
        signal.throwIfAborted();
      }
    },
  };

  async function carryOut(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const answer = await send(tasks.map(({ entry }) => entry));
    if (!answer.success) throw new ImportRefused(answer.error);
    const lists = new Map(tasks.map((task) => [task.entry.date as string, task]));
    const unsure: Task[] = [];
    for (const outcome of answer.outcomes) {
      const task = lists.get(outcome.date);
      if (outcome.outcome === 'refused') summary.refused.push({ label: outcome.date, reason: outcome.reason });
      else if (task && outcome.outcome === 'written') summary[task.list].push(outcome.date);
      else if (task) unsure.push(task);
    }
    if (unsure.length > 0) await sort(unsure, signal);
  }

  /** After an answer that got lost, what it wrote is met again as "changed": the words tell. */
  async function sort(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
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

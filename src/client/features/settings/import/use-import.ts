/** The steps of an import: read, compare, ask, write, and undo. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Choice, PastImport } from '#domain/journals/import-plan.ts';
import type { Day } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { createEntryReader, type Progress } from '../export/read-entries.ts';
import {
  createImportRun,
  ImportRejected,
  planImport,
  runUndo,
  type ImportPlan,
  type ImportSummary,
  type RunProgress,
  type UndoSummary,
} from './import-run.ts';
import { ImportRefusedError, type ChosenFile } from './open-files.ts';
import { ImportNotLoadedError, readFiles } from './read-files.ts';

export type ImportState =
  | { kind: 'idle' }
  | { kind: 'reading'; program: string; entries: number }
  | { kind: 'comparing'; progress: Progress | null }
  /** `retry`: the files, if another try may read them. */
  | { kind: 'unreadable'; text: string; retry: ChosenFile[] | null }
  | { kind: 'planned'; plan: ImportPlan }
  | { kind: 'writing'; progress: RunProgress }
  | { kind: 'stopped'; text: string | null; progress: Progress }
  | { kind: 'done'; program: string; summary: ImportSummary; importId: string }
  | { kind: 'undoing'; progress: RunProgress | null }
  | { kind: 'undoFailed'; text: string; importId: string }
  | { kind: 'undone'; summary: UndoSummary };

const UNREACHABLE = 'The server could not be reached.';
const LOAD_FAILED =
  "Couldn't load your logs to compare them with the files. Nothing was changed. Check your connection and try again.";

type Job = { run: ReturnType<typeof createImportRun>; program: string; importId: string };

export function useImport() {
  const data = useData();
  const { id: userId } = useUser();
  const { callFunction } = useSupabase();
  const queries = useQueryClient();
  const [shown, setShown] = useState<ImportState>({ kind: 'idle' });
  const stop = useRef<AbortController | null>(null);
  const job = useRef<Job | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const restart = (): AbortController => {
    stop.current?.abort();
    return (stop.current = new AbortController());
  };

  async function resume(): Promise<void> {
    if (!job.current) return;
    const { run, program, importId } = job.current;
    const { signal } = restart();
    let progress: Progress = { done: 0, total: run.total };
    try {
      await run.run(signal, (now) => {
        progress = now;
        setShown({ kind: 'writing', progress: now });
      });
      setShown({ kind: 'done', program, summary: run.summary, importId });
    } catch (error) {
      const text = error instanceof ImportRejected ? error.message : UNREACHABLE;
      setShown({ kind: 'stopped', text: signal.aborted ? null : text, progress });
    }
    // The import has changed logs, so everything that is cached may be stale.
    await queries.invalidateQueries();
  }

  return {
    shown,
    resume,
    async choose(chosen: ChosenFile[]): Promise<void> {
      const { signal } = restart();
      const show = (state: ImportState): void => {
        if (!signal.aborted) setShown(state);
      };
      show({ kind: 'reading', program: '', entries: 0 });
      try {
        const read = await readFiles(chosen, {
          zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
          now: new Date(),
          signal,
          onProgress: (program, entries) => show({ kind: 'reading', program, entries }),
        });
        show({ kind: 'comparing', progress: null });
        const reader = createEntryReader(data, userId);
        const plan = await planImport(read, reader, signal, (progress) => show({ kind: 'comparing', progress }));
        show({ kind: 'planned', plan });
      } catch (error) {
        const text = error instanceof ImportRefusedError ? error.message : LOAD_FAILED;
        const isFinal = error instanceof ImportRefusedError && !(error instanceof ImportNotLoadedError);
        show({ kind: 'unreadable', text, retry: isFinal ? null : chosen });
      }
    },
    write(plan: ImportPlan, choiceOf: (date: Day) => Choice): void {
      const importId = crypto.randomUUID();
      const reader = createEntryReader(data, userId);
      const run = createImportRun({ plan, choiceOf, importId, call: callFunction, reader });
      job.current = { run, program: plan.program, importId };
      void resume();
    },
    /** Ends a stopped import: lists the days that it has imported, which stay. */
    finish(): void {
      if (!job.current) return;
      const { run, program, importId } = job.current;
      setShown({ kind: 'done', program, summary: run.summary, importId });
    },
    async undo(importId: string): Promise<void> {
      const { signal } = restart();
      setShown({ kind: 'undoing', progress: null });
      try {
        const summary = await runUndo(importId, callFunction, signal, (progress) =>
          setShown({ kind: 'undoing', progress }),
        );
        setShown({ kind: 'undone', summary });
      } catch (error) {
        const text = error instanceof ImportRejected ? error.message : UNREACHABLE;
        if (!signal.aborted) setShown({ kind: 'undoFailed', text, importId });
      }
      await queries.invalidateQueries();
    },
    cancel(): void {
      stop.current?.abort();
      if (shown.kind === 'reading' || shown.kind === 'comparing') setShown({ kind: 'idle' });
    },
    reset(): void {
      stop.current?.abort();
      job.current = null;
      setShown({ kind: 'idle' });
    },
  };
}

/** The imports that can still be undone, newest first. */
export function usePastImports() {
  const { callFunction } = useSupabase();
  const { id: userId } = useUser();
  return useQuery({
    queryKey: ['imports', userId],
    staleTime: 0,
    // Also offline, so that a failure shows and is tried again once the browser is online.
    networkMode: 'always',
    refetchOnReconnect: true,
    queryFn: async ({ signal }): Promise<PastImport[]> => {
      const answer = await callFunction('list-imports', {}, signal);
      if (!answer.success) throw new Error(answer.error);
      return answer['imports'] as PastImport[];
    },
  });
}

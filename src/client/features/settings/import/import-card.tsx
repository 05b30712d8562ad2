/** The Import Data card: reads a file in the browser, shows a preview, then writes the chosen days. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { FILE_PROBLEMS } from '#domain/export/import-plan.ts';
import type { Choice } from '#domain/export/import-plan.ts';
import type { ImportAnswer } from '#domain/export/import-wire.ts';
import { UnreadableFileError } from '#domain/export/read-file.ts';
import type { Day } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { createEntryReader } from '../export/read-entries.ts';
import type { Progress } from '../export/export-run.ts';
import { ImportPlanView } from './import-plan-view.tsx';
import { createImportRun, ImportRejected, planImport, readImport } from './import-run.ts';
import type { ImportPlan, ImportSummary } from './import-run.ts';
import { ImportSummaryView } from './import-summary-view.tsx';
import { ProgressLine } from '../progress-line.tsx';
import styles from '../settings.module.css';

type ImportState =
  | { kind: 'idle' }
  | { kind: 'reading'; progress: Progress | null }
  | { kind: 'unreadable'; text: string }
  | { kind: 'planned'; plan: ImportPlan }
  | { kind: 'writing'; progress: Progress }
  | { kind: 'stopped'; text: string | null; progress: Progress }
  | { kind: 'done'; summary: ImportSummary };

export function ImportCard() {
  const { shown, choose, write, resume, cancel, finish, reset } = useImport();
  const picker = useRef<HTMLInputElement>(null);
  const { fallbackRef, areaProps } = useFocusRestore();
  const isReading = shown.kind === 'reading';
  return (
    <Section title="Import Data">
      {/* Takes the focus by script only (focus restore), when the focused button disappears with its step. */}
      <div ref={fallbackRef} className={styles.area} tabIndex={-1} role="group" aria-label="Import Data" {...areaProps}>
        <p className={styles.text}>
          Import the JSON, Markdown or plain text file of an export. You see a preview first, and no log is overwritten
          unless you choose so.
        </p>
        {/* The file input is visually hidden; the button "Choose a File" opens it. */}
        <input
          ref={picker}
          type="file"
          className="unseen"
          aria-label="File to import"
          tabIndex={-1}
          accept=".json,.md,.markdown,.txt,application/json,text/markdown,text/plain"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            // Clear the value, so choosing the same file again fires a change event.
            currentTarget.value = '';
            if (file) void choose(file);
          }}
        />
        {(shown.kind === 'idle' || shown.kind === 'reading' || shown.kind === 'unreadable') && (
          <div className={styles.actions}>
            <Button busy={isReading} busyLabel="Reading..." onClick={() => picker.current?.click()}>
              Choose a File
            </Button>
            {isReading && (
              <Button tone="text" onClick={cancel}>
                Cancel
              </Button>
            )}
          </div>
        )}
        {shown.kind === 'reading' && <ProgressLine label="Comparing" progress={shown.progress} unit="days compared" />}
        {shown.kind === 'unreadable' && <Notice kind="error">{shown.text}</Notice>}
        {shown.kind === 'planned' && (
          <ImportPlanView plan={shown.plan} onImport={write} onOther={() => picker.current?.click()} onCancel={reset} />
        )}
        {shown.kind === 'writing' && (
          <>
            <ProgressLine label="Importing" progress={shown.progress} unit="days" />
            <Button tone="text" onClick={cancel}>
              Cancel
            </Button>
          </>
        )}
        {shown.kind === 'stopped' && (
          <Notice kind={shown.text === null ? 'info' : 'error'}>
            <p>
              {shown.text ?? 'Import stopped.'} {shown.text !== null && 'At least '}
              {shown.progress.done.toLocaleString('en-US')} of {shown.progress.total.toLocaleString('en-US')} days were
              imported.
            </p>
            <div className={styles.actions}>
              <Button className={styles.again} onClick={resume}>
                {shown.text === null ? 'Continue' : 'Try again'}
              </Button>
              <Button tone="text" className={styles.again} onClick={finish}>
                Finish here
              </Button>
            </div>
          </Notice>
        )}
        {shown.kind === 'done' && <ImportSummaryView summary={shown.summary} onClose={reset} />}
      </div>
    </Section>
  );
}

function useImport() {
  const data = useData();
  const { id: userId } = useUser();
  const { callFunction } = useSupabase();
  const queries = useQueryClient();
  const [shown, setShown] = useState<ImportState>({ kind: 'idle' });
  const stop = useRef<AbortController | null>(null);
  const job = useRef<ReturnType<typeof createImportRun> | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const restart = (): AbortController => {
    stop.current?.abort();
    return (stop.current = new AbortController());
  };

  async function resume(): Promise<void> {
    const run = job.current;
    if (!run) return;
    const { signal } = restart();
    let progress: Progress = { done: 0, total: run.total };
    try {
      await run.run(signal, (now) => {
        progress = now;
        setShown({ kind: 'writing', progress });
      });
      setShown({ kind: 'done', summary: run.summary });
    } catch (error) {
      const text = error instanceof ImportRejected ? error.message : 'The server could not be reached.';
      setShown({ kind: 'stopped', text: signal.aborted ? null : text, progress });
    }
    // The import has changed logs, so everything that is cached may be stale.
    await queries.invalidateQueries();
  }

  return {
    shown,
    resume,
    async choose(file: File): Promise<void> {
      const { signal } = restart();
      setShown({ kind: 'reading', progress: null });
      try {
        const read = await readImport(file, signal);
        const reader = createEntryReader(data, userId);
        const plan = await planImport(read, file.name, reader, signal, (progress) => {
          if (!signal.aborted) setShown({ kind: 'reading', progress });
        });
        if (!signal.aborted) setShown({ kind: 'planned', plan });
      } catch (error) {
        if (signal.aborted) return;
        const loadFailed =
          "Couldn't load your logs to compare them with the file. Nothing was changed. Please try again.";
        setShown({
          kind: 'unreadable',
          text: error instanceof UnreadableFileError ? FILE_PROBLEMS[error.problem] : loadFailed,
        });
      }
    },
    write(plan: ImportPlan, choiceOf: (date: Day) => Choice): void {
      const reader = createEntryReader(data, userId);
      const send = async (entries: object[]) => (await callFunction('import-entries', { entries })) as ImportAnswer;
      job.current = createImportRun({ plan, choiceOf, send, reader });
      void resume();
    },
    cancel(): void {
      stop.current?.abort();
      if (shown.kind === 'reading') setShown({ kind: 'idle' });
    },
    /** Ends a stopped import: lists the days that it has imported, which stay. */
    finish(): void {
      if (job.current) setShown({ kind: 'done', summary: job.current.summary });
    },
    reset(): void {
      stop.current?.abort();
      job.current = null;
      setShown({ kind: 'idle' });
    },
  };
}

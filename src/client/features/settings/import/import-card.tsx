/** The Import Data card: reads files in the browser, shows a preview, then writes the chosen days. */
import { useEffect, useRef, useState, type DragEvent } from 'react';
import { EXPORT_GUIDES } from '#domain/journals/export-guides.ts';
import { lockedLogsLabel } from '#domain/plan/upgrade.ts';
import { clockTime } from '#domain/day/clock-time.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice, NoticeButtons } from '#client/ui/notice.tsx';
import { Buttons, Hint, LoadError, Quiet, Stack } from '#client/ui/stack.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { CaptionedProgress, ProgressLine, pluralize, UpgradePrompt } from '../settings-parts.tsx';
import { ImportPlanView, DayList, SkippedLists, UndoButton } from './import-plan-view.tsx';
import { useImport, usePastImports, type ImportState } from './use-import.ts';
import { MAX_FILES, type ChosenFile } from './open-files.ts';
import { countLocked, type ImportSummary } from './import-run.ts';
import { Summary } from '#client/ui/page/folded-section.tsx';
import styles from './import.module.css';

const pauseText = (what: 'import' | 'undo', seconds: number): string =>
  `The server asks for a pause. The ${what} continues in ${pluralize(seconds, 'second')}.`;

/** The steps during which dropped files would get lost or interrupt a write. */
const BUSY: ReadonlySet<ImportState['kind']> = new Set(['writing', 'undoing']);

const AREA_ID = 'import-data';

export function ImportCard() {
  const { shown, choose, write, resume, cancel, finish, undo, reset } = useImport();
  const { fallbackRef, areaProps } = useFocusRestore();
  const { kind } = shown;
  const lastKind = useRef(kind);
  useEffect(() => {
    const area = document.getElementById(AREA_ID)!;
    // The new step may be much shorter than the one that it replaces. Without scrolling it could be above the window.
    if (kind !== lastKind.current && area.getBoundingClientRect().top < 0) area.scrollIntoView();
    lastKind.current = kind;
  }, [kind]);
  const { isOver, dropProps } = useFileDrop((files) => {
    if (!BUSY.has(shown.kind)) void choose(files);
  });
  return (
    <Section title="Import Data">
      {/* Takes the focus by script only (focus restore), when the focused button disappears with its step. */}
      <div
        ref={fallbackRef}
        id={AREA_ID}
        className={styles.area}
        data-over={isOver || undefined}
        tabIndex={-1}
        role="group"
        aria-label="Import Data"
        {...areaProps}
        {...dropProps}
      >
        {(shown.kind === 'idle' || shown.kind === 'unreadable') && (
          <>
            <Intro />
            {shown.kind === 'unreadable' && (
              <Notice kind="error">
                <p>{shown.text}</p>
                {shown.retry && (
                  <NoticeButtons>
                    <Button onClick={() => void choose(shown.retry!)}>Try again</Button>
                  </NoticeButtons>
                )}
              </Notice>
            )}
            <FilePicker onChoose={(files) => void choose(files)} />
            <Guides />
            {shown.kind === 'idle' && <PastImports onUndo={(id) => void undo(id)} />}
          </>
        )}
        {(shown.kind === 'reading' || shown.kind === 'comparing') && (
          <>
            <Reading shown={shown} />
            <Button tone="text" onClick={cancel}>
              Cancel
            </Button>
          </>
        )}
        {shown.kind === 'planned' && <ImportPlanView plan={shown.plan} onImport={write} onCancel={reset} />}
        {shown.kind === 'writing' && (
          <>
            <ProgressLine label="Importing" progress={shown.progress} unit="days" />
            <Hint role="status">
              {shown.progress.waitSeconds === undefined
                ? 'Keep this page open until all days are imported.'
                : pauseText('import', shown.progress.waitSeconds)}
            </Hint>
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
            <NoticeButtons>
              <Button onClick={() => void resume()}>{shown.text === null ? 'Continue' : 'Try again'}</Button>
              <Button tone="text" onClick={finish}>
                Finish here
              </Button>
            </NoticeButtons>
          </Notice>
        )}
        {shown.kind === 'done' && (
          <ImportSummaryView summary={shown.summary} onUndo={() => void undo(shown.importId)} onClose={reset} />
        )}
        {shown.kind === 'undoing' && (
          <>
            <ProgressLine label="Undoing" progress={shown.progress?.total ? shown.progress : null} unit="days undone" />
            {shown.progress?.waitSeconds !== undefined && (
              <Hint role="status">{pauseText('undo', shown.progress.waitSeconds)}</Hint>
            )}
          </>
        )}
        {shown.kind === 'undoFailed' && (
          <Notice kind="error">
            <p>{shown.text} The import is undone in part.</p>
            <NoticeButtons>
              <Button onClick={() => void undo(shown.importId)}>Try again</Button>
            </NoticeButtons>
          </Notice>
        )}
        {shown.kind === 'undone' && (
          <>
            <Notice kind="success">The import is undone: {pluralize(shown.summary.undone, 'day')} taken back.</Notice>
            <DayList days={shown.summary.kept} label="changed since the import, so left as they are" />
            <Button onClick={reset}>Close</Button>
          </>
        )}
      </div>
    </Section>
  );
}

/** The card before the plan is known, and before React (app/page-frames.tsx). */
export const ImportFrame = () => (
  <Section title="Import Data">
    <Stack>
      <Intro />
    </Stack>
  </Section>
);

const Intro = () => (
  <Quiet>
    Bring your past along. Choose <span className={styles.dropHint}>or drop </span>what your old journal exports: files,
    a folder or a zip. You see a preview first, and no log is overwritten unless you choose so.
  </Quiet>
);

function Reading({ shown }: { shown: ImportState & { kind: 'reading' | 'comparing' } }) {
  if (shown.kind === 'comparing')
    return shown.progress ? (
      <ProgressLine label="Comparing" progress={shown.progress} unit="days compared" />
    ) : (
      <CaptionedProgress label="Comparing">Comparing with your logs...</CaptionedProgress>
    );
  const { program, entries } = shown;
  return (
    <CaptionedProgress label="Reading">
      {program === '' ? 'Reading...' : `${program}: ${pluralize(entries, 'entry', 'entries')} read`}
    </CaptionedProgress>
  );
}

function Guides() {
  return (
    <details className={styles.details}>
      <Summary>What to export from your journal</Summary>
      <dl className={styles.guides}>
        {EXPORT_GUIDES.map(([program, steps]) => (
          <div key={program}>
            <dt>{program}</dt>
            <dd>{steps}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function PastImports({ onUndo }: { onUndo: (importId: string) => void }) {
  const request = usePastImports();
  const { data: imports, isError } = request;
  if (isError && !imports) return <LoadError request={request}>Couldn't load your earlier imports.</LoadError>;
  if (!imports || imports.length === 0) return null;
  return (
    <ul className={styles.past} aria-label="Earlier imports">
      {imports.map(({ id, writtenAt, days, program }) => (
        <li key={id}>
          <span>
            {pluralize(days, 'day')} {program !== null && <>from {program} </>}imported on{' '}
            {dateLabel(dayOf(new Date(writtenAt)))} at {clockTime(new Date(writtenAt))}
          </span>
          <UndoButton days={days} onUndo={() => onUndo(id)} />
        </li>
      ))}
    </ul>
  );
}

const ownPath = (file: File): string => file.webkitRelativePath || file.name;

/** The file inputs are visually hidden; the buttons open them. */
function FilePicker({ onChoose }: { onChoose: (files: ChosenFile[]) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement): void => {
    const chosen = [...(input.files ?? [])].map((file) => ({ path: ownPath(file), file }));
    // Clear the value, so choosing the same file again fires a change event.
    input.value = '';
    if (chosen.length > 0) onChoose(chosen);
  };
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        className="unseen"
        aria-label="File to import"
        tabIndex={-1}
        onChange={({ currentTarget }) => take(currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        {...{ webkitdirectory: '' }}
        className="unseen"
        aria-label="Folder to import"
        tabIndex={-1}
        onChange={({ currentTarget }) => take(currentTarget)}
      />
      <Buttons>
        <Button onClick={() => files.current?.click()}>Choose Files</Button>
        <Button onClick={() => folder.current?.click()}>Choose a Folder</Button>
      </Buttons>
    </>
  );
}

/** Takes dropped files and folders. `preventFileDrops` keeps the page open for drops beside it. */
function useFileDrop(onChoose: (files: ChosenFile[]) => void) {
  const [isOver, setIsOver] = useState(false);
  const dropProps = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false);
    },
    onDrop: (event: DragEvent) => {
      setIsOver(false);
      if (!event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      // The browser empties the list after this event.
      const items = [...event.dataTransfer.items].filter(({ kind }) => kind === 'file');
      const dropped = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
      void collectFiles(dropped.filter((one) => one !== null)).then((files) => {
        if (files.length > 0) onChoose(files);
      });
    },
  };
  return { isOver, dropProps };
}

/** Stops at the first file above the limit: one too many is enough for the import to be refused. */
async function collectFiles(dropped: readonly (FileSystemEntry | File)[]): Promise<ChosenFile[]> {
  const files: ChosenFile[] = [];
  const waiting = [...dropped];
  for (let entry = waiting.pop(); entry && files.length <= MAX_FILES; entry = waiting.pop()) {
    if (entry instanceof File) files.push({ path: entry.name, file: entry });
    else if (entry.isDirectory) waiting.push(...(await readFolder(entry as FileSystemDirectoryEntry)));
    else {
      const file = await readFile(entry as FileSystemFileEntry);
      if (file) files.push({ path: entry.fullPath.replace(/^\//, ''), file });
    }
  }
  return files;
}

const readFile = (entry: FileSystemFileEntry): Promise<File | null> =>
  new Promise((resolve) => entry.file(resolve, () => resolve(null)));

/** A browser may list a folder in parts (Chromium: of 100), until a part is empty. */
async function readFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (part.length === 0 || entries.length > MAX_FILES) return entries;
    entries.push(...part);
  }
}

type ImportSummaryViewProps = { summary: ImportSummary; onUndo: () => void; onClose: () => void };

/** The result of an import: lists of its days, and a button that undoes it. */
function ImportSummaryView({ summary, onUndo, onClose }: ImportSummaryViewProps) {
  const { added, feedback, replaced, both, changed, refused, locked } = summary;
  const premium = usePremium();
  const today = useToday();
  const written = added.length + feedback.length + replaced.length + both.length;
  const waiting = premium === false ? lockedLogsLabel(countLocked([...added, ...locked], premium, today)) : null;
  return (
    <div className={styles.plan}>
      <Notice kind="success">Imported {pluralize(written, 'day')}.</Notice>
      {waiting !== null && <UpgradePrompt feature="historical-logs" id="import-waiting" text={waiting} />}
      <div className={styles.lists}>
        <DayList days={added} label="added" />
        <DayList days={feedback} label="with feedback added" />
        <DayList days={replaced} label="replaced by the file’s text" />
        <DayList days={both} label="with both texts, the file’s below yours" />
        <DayList days={changed} label="skipped after a change on another device" />
        <SkippedLists skipped={refused.map(({ date, reason }) => ({ source: date, reason }))} />
      </div>
      <Buttons>
        <Button onClick={onClose}>Close</Button>
        {written > 0 && <UndoButton days={written} onUndo={onUndo} />}
      </Buttons>
    </div>
  );
}

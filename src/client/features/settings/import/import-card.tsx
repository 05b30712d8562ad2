/** The Import Data card: reads files in the browser, shows a preview, then writes the chosen days. */
import { EXPORT_GUIDES } from '#domain/journals/export-guides.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { ProgressLine } from '../progress-line.tsx';
import { pluralize } from '../pluralize.ts';
import { FilePicker, useFileDrop } from './choose-files.tsx';
import { ImportPlanView } from './import-plan-view.tsx';
import { ImportSummaryView } from './import-summary-view.tsx';
import { DayList } from './skipped-lists.tsx';
import { UndoButton } from './undo-button.tsx';
import { useImport, usePastImports, type ImportState } from './use-import.ts';
import common from '../settings.module.css';
import styles from './import.module.css';

/** The steps during which dropped files would get lost or interrupt a write. */
const BUSY: ReadonlySet<ImportState['kind']> = new Set(['writing', 'undoing']);

export function ImportCard({ onUpgrade }: { onUpgrade: (feature: UpgradeFeature) => void }) {
  const { shown, choose, write, resume, cancel, finish, undo, reset } = useImport();
  const { fallbackRef, areaProps } = useFocusRestore();
  const { isOver, dropProps } = useFileDrop((files) => {
    if (!BUSY.has(shown.kind)) void choose(files);
  });
  return (
    <Section title="Import Data">
      {/* Takes the focus by script only (focus restore), when the focused button disappears with its step. */}
      <div
        ref={fallbackRef}
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
            <p className={common.text}>
              Bring your past along. Choose <span className={styles.dropHint}>or drop </span>what your old journal
              exports: files, a folder or a zip. You see a preview first, and no log is overwritten unless you choose
              so.
            </p>
            {shown.kind === 'unreadable' && <Notice kind="error">{shown.text}</Notice>}
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
            <p className={common.note} role="status">
              {shown.progress.waitSeconds === undefined
                ? 'Keep this page open until all days are imported.'
                : `The server asks for a pause. The import continues in ${pluralize(shown.progress.waitSeconds, 'second')}.`}
            </p>
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
            <div className={common.actions}>
              <Button className={common.again} onClick={() => void resume()}>
                {shown.text === null ? 'Continue' : 'Try again'}
              </Button>
              <Button tone="text" className={common.again} onClick={finish}>
                Finish here
              </Button>
            </div>
          </Notice>
        )}
        {shown.kind === 'done' && (
          <ImportSummaryView
            summary={shown.summary}
            onUpgrade={() => onUpgrade('historical-logs')}
            onUndo={() => void undo(shown.importId)}
            onClose={reset}
          />
        )}
        {shown.kind === 'undoing' && <ProgressLine label="Undoing" progress={shown.progress} unit="days undone" />}
        {shown.kind === 'undoFailed' && (
          <Notice kind="error">
            <p>{shown.text} The import is undone in part.</p>
            <Button className={common.again} onClick={() => void undo(shown.importId)}>
              Try again
            </Button>
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

function Reading({ shown }: { shown: ImportState & { kind: 'reading' | 'comparing' } }) {
  if (shown.kind === 'comparing')
    return <ProgressLine label="Comparing" progress={shown.progress} unit="days compared" />;
  const { program, entries } = shown;
  return (
    <div className={common.progress}>
      <progress aria-label="Reading" />
      <p className={common.note}>
        {program === '' ? 'Reading...' : `${program}: ${pluralize(entries, 'entry', 'entries')} read`}
      </p>
    </div>
  );
}

function Guides() {
  return (
    <details className={styles.details}>
      <summary>What to export from your journal</summary>
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
  const imports = usePastImports();
  if (imports.length === 0) return null;
  return (
    <ul className={styles.past} aria-label="Earlier imports">
      {imports.map(({ id, writtenAt, days }) => (
        <li key={id}>
          <span>
            {pluralize(days, 'day')} imported on {dateLabel(dayOf(new Date(writtenAt)))}
          </span>
          <UndoButton days={days} onUndo={() => onUndo(id)} />
        </li>
      ))}
    </ul>
  );
}

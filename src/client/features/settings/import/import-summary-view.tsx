/** The result of an import, with links to every affected day, and its undo. */
import { lockedLogsLabel } from '#domain/plan/upgrade.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { pluralize } from '../pluralize.ts';
import { UpgradePrompt } from '../upgrade-prompt.tsx';
import { countLocked, type ImportSummary } from './import-run.ts';
import { DayList, SkippedLists } from './skipped-lists.tsx';
import { UndoButton } from './undo-button.tsx';
import common from '../settings.module.css';
import styles from './import.module.css';

type ImportSummaryViewProps = {
  summary: ImportSummary;
  onUpgrade: () => void;
  onUndo: () => void;
  onClose: () => void;
};

export function ImportSummaryView({ summary, onUpgrade, onUndo, onClose }: ImportSummaryViewProps) {
  const { added, feedback, replaced, both, changed, refused } = summary;
  const premium = usePremium();
  const today = useToday();
  const written = added.length + feedback.length + replaced.length + both.length;
  const waiting = premium === false ? lockedLogsLabel(countLocked(added, premium, today)) : null;
  return (
    <div className={styles.plan}>
      <Notice kind="success">Imported {pluralize(written, 'day')}.</Notice>
      {waiting !== null && <UpgradePrompt id="import-waiting" text={waiting} onUpgrade={onUpgrade} />}
      <div className={styles.lists}>
        <DayList days={added} label="added" />
        <DayList days={feedback} label="with feedback added" />
        <DayList days={replaced} label="replaced by the file’s text" />
        <DayList days={both} label="with both texts, the file’s below yours" />
        <DayList days={changed} label="skipped after a change on another device" />
        <SkippedLists skipped={refused.map(({ date, reason }) => ({ source: date, reason }))} />
      </div>
      <div className={common.actions}>
        <Button onClick={onClose}>Close</Button>
        {written > 0 && <UndoButton days={written} onUndo={onUndo} />}
      </div>
    </div>
  );
}

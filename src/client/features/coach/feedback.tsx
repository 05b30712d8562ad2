/** The feedback on a day: the stored one, the one being streamed, and the button that requests it. */
import { useEffect, type Ref } from 'react';
import { flushSync } from 'react-dom';
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import type { AnalysisView } from './use-analysis.ts';
import { useConsent } from './use-consent.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { AnalysisFailure, useRetryWait } from './analysis-failure.tsx';
import { Button } from '#client/ui/button.tsx';
import { CoachConsent } from './coach-consent.tsx';
import { CoachText } from './coach-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SandboxModelNotice } from './sandbox-model-notice.tsx';
import { Score } from '#client/ui/score.tsx';
import { TimeAgo } from './time-ago.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import styles from './coach-panel.module.css';
import { useIsWide } from './coach-sheet.tsx';
import { clearLineHighlight, highlightLine } from './highlight-line.ts';
import type { StoredFeedback } from './stored-feedback.ts';
import { useFeedback, type OpenLog } from './use-feedback.ts';

type FeedbackProps = { date: Day; log: OpenLog; configured: boolean; onClose: () => void };

export function Feedback({ date, log, configured, onClose }: FeedbackProps) {
  const { stored, view, analyze, cancel } = useFeedback(date, log);
  const consent = useConsent();
  const { fallbackRef, areaProps } = useFocusRestore();
  useEffect(() => clearLineHighlight, []);
  const wide = useIsWide();
  const showCited = (line: number): void => {
    // A narrow sheet covers the log and clears the highlight when it closes, so close it first.
    if (!wide) flushSync(onClose);
    highlightLine(date, line);
  };

  if (stored.isPending) return <LoadingText />;
  if (!stored.data) {
    return (
      <div className={styles.stack}>
        <Notice kind="error">Couldn't load the feedback. Your log is safe.</Notice>
        <Button onClick={() => void stored.refetch()} busy={stored.isFetching} busyLabel="Loading...">
          Try Again
        </Button>
      </div>
    );
  }
  const { hasLog, feedback } = stored.data;
  const isRunning = view.phase === 'running';
  const canAnalyze = configured && consent.given;
  const hasText = hasLog || log.unsaved;
  return (
    <div className={styles.whole} {...areaProps}>
      <div className={styles.stack}>
        {isRunning && <StreamingFeedback view={view} hasPrevious={feedback !== null} />}
        {feedback && (
          <FeedbackCard
            feedback={feedback}
            hasUnsavedText={log.unsaved}
            isReplaced={isRunning}
            onCitation={showCited}
          />
        )}
        {!isRunning && !feedback && configured && (!hasText || consent.given) && <EmptyState hasLog={hasText} />}
        {!configured && <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>}
        {configured && !consent.given && (hasText || feedback) && <CoachConsent button={fallbackRef} />}
        {canAnalyze && (feedback || isRunning) && <SandboxModelNotice />}
      </div>
      {canAnalyze && (hasText || isRunning) && (
        <AnalyzeBar
          button={fallbackRef}
          view={view}
          label={buttonLabel(view, feedback, log.unsaved)}
          urgent={view.phase === 'failed' || !feedback?.upToDate || log.unsaved}
          onAnalyze={() => void analyze(feedback !== null && feedback.upToDate && !log.unsaved)}
          onCancel={cancel}
        />
      )}
      <p className="unseen" role="status">
        {announcement(view, feedback)}
      </p>
    </div>
  );
}

function buttonLabel({ phase }: AnalysisView, feedback: StoredFeedback | null, hasUnsavedText: boolean): string {
  if (phase === 'failed') return 'Try Again';
  if (!feedback) return 'Get Fresh Analysis';
  return feedback.upToDate && !hasUnsavedText ? 'Force Refresh' : 'Refresh Analysis';
}

/** Screen readers announce the start and the end, not the streamed text. */
function announcement({ phase }: AnalysisView, feedback: StoredFeedback | null): string {
  if (phase === 'running') return 'The coach is reading your log.';
  if (phase === 'cancelled') return 'Cancelled. Nothing was saved.';
  if (phase !== 'done' || !feedback) return '';
  const { score } = feedback;
  return score === null ? 'Feedback is ready.' : `Feedback is ready. ${score} of 10, ${scoreBand(score).word}.`;
}

function EmptyState({ hasLog }: { hasLog: boolean }) {
  return hasLog ? (
    <>
      <p className={styles.lead}>No feedback for this day yet.</p>
      <p className={styles.quiet}>
        The coach reads this day and up to three days before it, then gives feedback that cites your lines.
      </p>
    </>
  ) : (
    <p className={styles.lead}>{AI_MESSAGES.noEntry}</p>
  );
}

/** The streamed feedback. The score has a placeholder, so the layout does not shift. */
function StreamingFeedback({ view, hasPrevious }: { view: AnalysisView; hasPrevious: boolean }) {
  return (
    <section className={styles.writing} aria-label="New feedback" aria-busy="true">
      <p className={styles.quiet}>
        {view.failures > 0 ? `Attempt ${view.failures + 1} · ` : ''}
        {view.text === '' ? 'Reading your log...' : 'Writing...'}
      </p>
      <Score score={view.score} />
      <h3>Raw Feedback</h3>
      {view.text === '' ? <span className={styles.caret} /> : <CoachText text={view.text} writing />}
      {hasPrevious && <hr className={styles.rule} />}
    </section>
  );
}

type FeedbackCardProps = {
  feedback: StoredFeedback;
  hasUnsavedText: boolean;
  isReplaced: boolean;
  onCitation: (line: number) => void;
};

function FeedbackCard({ feedback, hasUnsavedText, isReplaced, onCitation }: FeedbackCardProps) {
  const { score, feedback: text, missingFact, analyzedAt, upToDate, cited } = feedback;
  const current = upToDate && !hasUnsavedText;
  // Citations refer to the analysed version of the log, so they open a line only while the log is unchanged.
  const openCitation = current ? onCitation : undefined;
  return (
    <section
      className={styles.card}
      data-replaced={isReplaced}
      aria-label={isReplaced ? 'Previous feedback' : 'Feedback'}
    >
      <p className={styles.state} data-state={isReplaced ? 'replaced' : current ? 'current' : 'outdated'}>
        <span>
          {isReplaced ? 'Earlier analysis' : current ? 'Up to date' : 'Analysis outdated'}{' '}
          <span className={styles.quiet}>
            · <TimeAgo at={analyzedAt} />
          </span>
        </span>
      </p>
      {score !== null && <Score score={score} />}
      <h3>Raw Feedback</h3>
      <CoachText text={text} cited={cited} onCitation={openCitation} />
      {missingFact !== null && missingFact !== '' && (
        <aside className={styles.missing} aria-label="Missing detail">
          <h4>Missing detail</h4>
          <CoachText text={missingFact} cited={cited} onCitation={openCitation} />
        </aside>
      )}
    </section>
  );
}

type AnalyzeBarProps = {
  button: Ref<HTMLButtonElement>;
  view: AnalysisView;
  label: string;
  urgent: boolean;
  onAnalyze: () => void;
  onCancel: () => void;
};

/** Stays visible at the foot of the sheet while the feedback scrolls. */
function AnalyzeBar({ button, view, label, urgent, onAnalyze, onCancel }: AnalyzeBarProps) {
  const wait = useRetryWait(view.failure);
  const isRunning = view.phase === 'running';
  return (
    <div className={styles.foot}>
      {view.failure && <AnalysisFailure failure={view.failure} failures={view.failures} />}
      {(wait !== null || (view.phase === 'failed' && view.failures > 1)) && (
        <p className={styles.quiet}>
          {view.failures > 1 ? `Attempt ${view.failures}. ` : ''}
          {wait}
        </p>
      )}
      {view.phase === 'cancelled' && <p className={styles.quiet}>Cancelled. Nothing was saved.</p>}
      <div className={styles.buttons}>
        <Button
          ref={button}
          tone={urgent ? 'primary' : 'plain'}
          busy={isRunning}
          busyLabel="Analyzing..."
          softDisabled={wait !== null}
          onClick={onAnalyze}
        >
          {label}
        </Button>
        {isRunning && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </div>
  );
}

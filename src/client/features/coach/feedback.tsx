/** What the coach said about the day, what it is writing now, and the button that asks. */
import { useEffect } from 'react';
import { flushSync } from 'react-dom';
import type { Ref } from 'react';
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import type { AnalysisView } from '#client/lib/coach/use-analysis.ts';
import { useConsent } from '#client/lib/coach/use-consent.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { AnalysisFailure, useRetryWait } from '#client/ui/coach/analysis-failure.tsx';
import { Button } from '#client/ui/button.tsx';
import { CoachConsent } from '#client/ui/coach/coach-consent.tsx';
import { CoachText } from '#client/ui/coach/coach-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SandboxModelNotice } from '#client/ui/coach/sandbox-model-notice.tsx';
import { TimeAgo } from '#client/ui/coach/time-ago.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import styles from './coach-panel.module.css';
import { useWide } from './coach-sheet.tsx';
import { Score } from './score.tsx';
import { hideLine, showLine } from './show-line.ts';
import type { StoredFeedback } from './stored-feedback.ts';
import { useFeedback } from './use-feedback.ts';
import type { OpenLog } from './use-feedback.ts';

type FeedbackProps = { date: Day; log: OpenLog; configured: boolean; onClose: () => void };

export function Feedback({ date, log, configured, onClose }: FeedbackProps) {
  const { stored, view, ask, cancel } = useFeedback(date, log);
  const consent = useConsent();
  const { fallbackRef, areaProps } = useFocusRestore();
  useEffect(() => hideLine, []);
  const wide = useWide();
  const showCited = (line: number): void => {
    // A narrow sheet covers the log. The mark is set once the sheet has gone, which would take it along.
    if (!wide) flushSync(onClose);
    showLine(date, line);
  };

  if (stored.isPending) return <LoadingText />;
  if (!stored.data) {
    return (
      <div className={styles.stack}>
        <Notice kind="error">The feedback could not be read. Your log is safe.</Notice>
        <Button onClick={() => void stored.refetch()} busy={stored.isFetching} busyLabel="Loading...">
          Try Again
        </Button>
      </div>
    );
  }
  const { hasLog, feedback } = stored.data;
  const running = view.phase === 'running';
  const mayAsk = configured && consent.given;
  const readable = hasLog || log.unsaved;
  return (
    <div className={styles.whole} {...areaProps}>
      <div className={styles.stack}>
        {running && <Writing view={view} again={feedback !== null} />}
        {feedback && <Said feedback={feedback} changed={log.unsaved} before={running} onCitation={showCited} />}
        {!running && !feedback && configured && (!readable || consent.given) && <Nothing hasLog={readable} />}
        {!configured && <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>}
        {configured && !consent.given && (readable || feedback) && <CoachConsent button={fallbackRef} />}
        {mayAsk && (feedback || running) && <SandboxModelNotice />}
      </div>
      {mayAsk && (readable || running) && (
        <Ask
          button={fallbackRef}
          view={view}
          label={buttonLabel(view, feedback, log.unsaved)}
          urgent={view.phase === 'failed' || !feedback?.upToDate || log.unsaved}
          onAsk={() => void ask(feedback !== null && feedback.upToDate && !log.unsaved)}
          onCancel={cancel}
        />
      )}
      <p className="unseen" role="status">
        {spoken(view, feedback)}
      </p>
    </div>
  );
}

function buttonLabel({ phase }: AnalysisView, feedback: StoredFeedback | null, changed: boolean): string {
  if (phase === 'failed') return 'Try Again';
  if (!feedback) return 'Get Fresh Analysis';
  return feedback.upToDate && !changed ? 'Force Refresh' : 'Refresh Analysis';
}

/** Begin and end are read out; the words themselves are read when their reader comes to them. */
function spoken({ phase }: AnalysisView, feedback: StoredFeedback | null): string {
  if (phase === 'running') return 'The coach is reading your log.';
  if (phase === 'cancelled') return 'Cancelled. Nothing was stored.';
  if (phase !== 'done' || !feedback) return '';
  const { score } = feedback;
  return score === null ? 'The feedback is there.' : `The feedback is there. ${score} of 10, ${scoreBand(score).word}.`;
}

function Nothing({ hasLog }: { hasLog: boolean }) {
  return hasLog ? (
    <>
      <p className={styles.lead}>No feedback for this day yet.</p>
      <p className={styles.quiet}>
        The coach reads this day and up to three days before it. Then it says what it thinks, and cites the lines that
        it speaks of.
      </p>
    </>
  ) : (
    <p className={styles.lead}>{AI_MESSAGES.noEntry}</p>
  );
}

/** The answer while it grows, downwards only. Its score has its place before it is known. */
function Writing({ view, again }: { view: AnalysisView; again: boolean }) {
  return (
    <section className={styles.writing} aria-label="New feedback" aria-busy="true">
      <p className={styles.quiet}>
        {view.failures > 0 ? `Attempt ${view.failures + 1} · ` : ''}
        {view.text === '' ? 'Reading your log...' : 'Writing...'}
      </p>
      <Score score={view.score} />
      <h3>Raw Feedback</h3>
      {view.text === '' ? <span className={styles.caret} /> : <CoachText text={view.text} writing />}
      {again && <hr className={styles.rule} />}
    </section>
  );
}

type SaidProps = {
  feedback: StoredFeedback;
  changed: boolean;
  before: boolean;
  onCitation: (line: number) => void;
};

function Said({ feedback, changed, before, onCitation }: SaidProps) {
  const { score, feedback: text, missingFact, analyzedAt, upToDate, cited } = feedback;
  const current = upToDate && !changed;
  // Citations are of the log as it was read.
  const show = current ? onCitation : undefined;
  return (
    <section className={styles.said} data-before={before} aria-label={before ? 'Feedback so far' : 'Feedback'}>
      <p className={styles.state} data-state={before ? 'before' : current ? 'current' : 'outdated'}>
        <span>
          {/* What the new one will make of the words as they are now, nobody knows yet. */}
          {before ? 'Earlier analysis' : current ? 'Up to date' : 'Analysis outdated'}{' '}
          <span className={styles.quiet}>
            · <TimeAgo at={analyzedAt} />
          </span>
        </span>
      </p>
      {score !== null && <Score score={score} />}
      <h3>Raw Feedback</h3>
      <CoachText text={text} cited={cited} onCitation={show} />
      {missingFact !== null && missingFact !== '' && (
        <aside className={styles.missing} aria-label="Would have made the day clearer">
          <h4>Would have made the day clearer</h4>
          <CoachText text={missingFact} cited={cited} onCitation={show} />
        </aside>
      )}
    </section>
  );
}

type AskProps = {
  button: Ref<HTMLButtonElement>;
  view: AnalysisView;
  label: string;
  urgent: boolean;
  onAsk: () => void;
  onCancel: () => void;
};

/** At the foot of the sheet, where it stays however long the feedback is. */
function Ask({ button, view, label, urgent, onAsk, onCancel }: AskProps) {
  const wait = useRetryWait(view.failure);
  const running = view.phase === 'running';
  return (
    <div className={styles.foot}>
      {view.failure && <AnalysisFailure failure={view.failure} failures={view.failures} />}
      {(wait !== null || (view.phase === 'failed' && view.failures > 1)) && (
        <p className={styles.quiet}>
          {view.failures > 1 ? `Attempt ${view.failures}. ` : ''}
          {wait}
        </p>
      )}
      {view.phase === 'cancelled' && <p className={styles.quiet}>Cancelled. Nothing was stored.</p>}
      <div className={styles.buttons}>
        <Button
          ref={button}
          tone={urgent ? 'primary' : 'plain'}
          busy={running}
          busyLabel="Analyzing..."
          softDisabled={wait !== null}
          onClick={onAsk}
        >
          {label}
        </Button>
        {running && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </div>
  );
}

/** The feedback on a day: the stored one, the one being streamed, and the button that requests it. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, type Ref } from 'react';
import { flushSync } from 'react-dom';
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { ENTRY_CACHE_KEY } from '#client/sync/entries/entry-queries.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Score, SampleDay } from '#client/ui/coach-sample.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { AnalysisFailure, useRetryWait, type AnalysisView } from './use-analysis.tsx';
import { useConsent, CoachConsent, SandboxModelNotice } from './coach-consent.tsx';
import { CoachText, TimeAgo } from './coach-text.tsx';
import { useIsWide, CoachSheet } from './coach-sheet.tsx';
import { useFeedback, type StoredFeedback, type OpenLog } from './use-feedback.ts';
import styles from './coach-panel.module.css';
import { PREMIUM_PRICE, FAIR_USE_NOTE } from '#domain/plan/plan.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';

type FeedbackProps = { date: Day; log: OpenLog; configured: boolean; onClose: () => void };

function Feedback({ date, log, configured, onClose }: FeedbackProps) {
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
            date={date}
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
  if (phase === 'cancelled') return AI_MESSAGES.cancelled;
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
  date: Day;
  feedback: StoredFeedback;
  hasUnsavedText: boolean;
  isReplaced: boolean;
  onCitation: (line: number) => void;
};

function FeedbackCard({ date, feedback, hasUnsavedText, isReplaced, onCitation }: FeedbackCardProps) {
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
      {score !== null && (
        <div className={styles.scores}>
          <Score score={score} />
          <LastScores date={date} />
        </div>
      )}
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

const MAX_LAST_SCORES = 7;

/** The newest scores up to this day, oldest first, each as a number under a bar. */
function LastScores({ date }: { date: Day }) {
  const data = useData();
  const { id } = useUser();
  const { data: scores, isPending } = useQuery({
    queryKey: [...ENTRY_CACHE_KEY, 'last-scores', date],
    queryFn: async ({ signal }) => {
      const { data: rows } = await data
        .from('entries')
        .select('date, hustle_score')
        .eq('user_id', id)
        .lte('date', date)
        .isNotNull('hustle_score')
        .order('date', { ascending: false })
        .limit(MAX_LAST_SCORES)
        .abortSignal(signal)
        .throwOnError();
      return rows.map((row) => ({ date: row.date, score: row.hustle_score! })).reverse();
    },
    networkMode: 'always',
  });
  // Reserves the height of the scores: on a phone they stand above the text.
  if (isPending) return <div className={styles.last} />;
  // The only score is shown already, as the score of the day.
  if (!scores || scores.length < 2) return null;
  return (
    <div className={styles.last}>
      <p>Last {scores.length} scores</p>
      <ol>
        {scores.map(({ date: of, score }) => (
          <li key={of}>
            <span className={styles.bar} style={{ blockSize: `${score * 2}px` }} />
            <span className="unseen">{shortDate(of)}: </span>
            {score}
          </li>
        ))}
      </ol>
    </div>
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
      {view.phase === 'cancelled' && <p className={styles.quiet}>{AI_MESSAGES.cancelled}</p>}
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

/** The highlight name in coach-panel.module.css. */
const HIGHLIGHT_NAME = 'cited-line';

let clearHighlight: () => void = () => undefined;

/**
 * Scrolls to a cited line of the open log and highlights it until the log is edited, another line is shown or the
 * feedback closes. Uses the CSS Custom Highlight API, because only the editor may change the log's elements.
 *
 * `position`: 1-based, among the lines with text, as in `citableLines`.
 */
function highlightLine(date: Day, position: number): void {
  clearHighlight();
  const log = document.querySelector<HTMLElement>(`.ProseMirror[aria-label="Log for ${dayLabel(date)}"]`);
  const range = log && linesIn(log)[position - 1];
  if (!log || !range) return;
  if ('highlights' in CSS) CSS.highlights.set(HIGHLIGHT_NAME, new Highlight(range));
  const listeners = new AbortController();
  clearHighlight = () => {
    listeners.abort();
    if ('highlights' in CSS) CSS.highlights.delete(HIGHLIGHT_NAME);
  };
  log.addEventListener('input', clearHighlight, { signal: listeners.signal });
  const reducesMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  range.startContainer.parentElement?.scrollIntoView({ block: 'center', behavior: reducesMotion ? 'auto' : 'smooth' });
}

const clearLineHighlight = (): void => clearHighlight();

/** The lines with text, in order: each text block, split at line breaks, as in `citableLines`. */
function linesIn(log: HTMLElement): Range[] {
  const lines: Range[] = [];
  let line: Range | null = null;
  let block: Element | null = null;
  const parts = document.createTreeWalker(log, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = parts.nextNode(); node; node = parts.nextNode()) {
    if (node.nodeName === 'BR') line = null;
    if (!(node instanceof Text)) continue;
    const inside = node.parentElement?.closest('p, h1, h2, h3, pre') ?? null;
    if (inside !== block) line = null;
    block = inside;
    // Code blocks contain newline characters instead of <br>.
    let at = 0;
    for (const [index, text] of node.data.split('\n').entries()) {
      if (index > 0) line = null;
      if (line) line.setEnd(node, at + text.length);
      else if (text.trim() !== '') {
        line = new Range();
        line.setStart(node, at);
        line.setEnd(node, at + text.length);
        lines.push(line);
      }
      at += text.length + 1;
    }
  }
  return lines;
}

type CoachPanelProps = { date: Day; log: OpenLog; onClose: () => void };

/** The HAI Feedback panel: the upgrade pitch on the free plan, the feedback on the open day on premium. */
export function CoachPanel({ date, log, onClose }: CoachPanelProps) {
  const premium = usePremium();
  const { features } = useClientConfig();
  // If the plan ends while a button of the panel has the focus, the upgrade button gets the focus.
  const { fallbackRef, areaProps } = useFocusRestore();
  return (
    <CoachSheet title="HAI Feedback" onClose={onClose}>
      <div className={styles.whole} {...areaProps}>
        {premium === null && <PlanPlaceholder />}
        {premium === false && <Pitch configured={features.coach} button={fallbackRef} />}
        {/* The key aborts the analysis when the day changes. */}
        {premium === true && (
          <Feedback key={date} date={date} log={log} configured={features.coach} onClose={onClose} />
        )}
      </div>
    </CoachSheet>
  );
}

type PitchProps = { configured: boolean; button: Ref<HTMLButtonElement> };

function Pitch({ configured, button }: PitchProps) {
  return (
    <>
      <div className={styles.stack}>
        {configured ? (
          <>
            <p className={styles.lead}>{AI_MESSAGES.premium}</p>
            <SampleDay />
            <ul className={styles.points}>
              <li>A HustleScore from 1 to 10 for every day</li>
              <li>Raw feedback that cites what you wrote</li>
              <li>As often as you like</li>
            </ul>
            <p className={styles.quiet}>{FAIR_USE_NOTE}</p>
          </>
        ) : (
          // A server without a coach cannot sell feedback. The upgrade button stays, because the plan has other
          // benefits.
          <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>
        )}
      </div>
      <div className={styles.foot}>
        <div className={styles.offer}>
          <UpgradeButton feature="ai-feedback" button={button} />
          <p>{PREMIUM_PRICE.label}</p>
        </div>
      </div>
    </>
  );
}

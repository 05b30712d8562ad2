/** Runs one analysis at a time and tracks its state for the screen. */
import { useCallback, useEffect, useRef, useState, type Dispatch, type SetStateAction } from 'react';
import { clockTime } from '#domain/day/clock-time.ts';
import { dayOf, weekdayOf } from '#domain/day/day.ts';
import { failureMessage, type ReviewProgress } from '#domain/coach/coach.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Notice } from '#client/ui/notice.tsx';
import { TextWithSupportLink } from '#client/ui/support-link.tsx';
import type { CoachAnswer, CoachFailure } from './coach-stream.ts';

export type AnalysisView = {
  phase: 'idle' | 'running' | 'done' | 'failed' | 'cancelled';
  /** The text streamed so far; empty unless running. */
  text: string;
  score: number | null;
  /** The progress of a long review that runs or was cancelled; otherwise null. */
  progress: ReviewProgress | null;
  failure: CoachFailure | null;
  /** Consecutive failed attempts. A refusal does not count as a failure, and resets the count. */
  failures: number;
};

type StreamHandlers = {
  signal: AbortSignal;
  onScore: (score: number) => void;
  onText: (delta: string) => void;
  onProgress: (progress: ReviewProgress) => void;
};

const IDLE: AnalysisView = { phase: 'idle', text: '', score: null, progress: null, failure: null, failures: 0 };

/**
 * Refusals that show that this page's copy of the profile is stale. Once the profile is read again, the screen shows
 * the reason.
 */
const PROFILE_REASONS: ReadonlySet<CoachFailure['reason']> = new Set(['premium', 'ai_consent']);
const ACCOUNT_REASONS: ReadonlySet<CoachFailure['reason']> = new Set([...PROFILE_REASONS, 'signed_out']);
const INPUT_REASONS: ReadonlySet<CoachFailure['reason']> = new Set(['no_entry', 'too_short', 'canned', 'unsaved']);

/**
 * `run` starts an analysis unless one is in flight, and awaits `onDone` before the view shows the end. Unmounting
 * aborts the analysis. `inputKey`: changes with the analysed text.
 */
export function useAnalysis<Result>(inputKey = '') {
  const [view, setView] = useState<AnalysisView>(IDLE);
  const { profile, expired, refreshProfile } = useSession();
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const run = useCallback(
    async (ask: (handlers: StreamHandlers) => Promise<CoachAnswer<Result>>, onDone: (result: Result) => unknown) => {
      if (current.current) return;
      const controller = new AbortController();
      const { signal } = controller;
      current.current = controller;
      const set = (change: (now: AnalysisView) => AnalysisView): void => {
        if (current.current === controller) setView(change);
      };
      setView((now) => ({ ...now, phase: 'running', text: '', score: null, progress: null, failure: null }));
      try {
        const answer = await ask({
          signal,
          onScore: (score) => set((now) => ({ ...now, score })),
          onText: (delta) => set((now) => ({ ...now, text: now.text + delta })),
          onProgress: (progress) => set((now) => ({ ...now, progress })),
        });
        if (signal.aborted) return;
        if (answer.kind === 'done') {
          await onDone(answer.result);
          set(() => ({ ...IDLE, phase: 'done' }));
          return;
        }
        const { failure } = answer;
        if (PROFILE_REASONS.has(failure.reason)) await refreshProfile();
        set(({ failures }) => ({
          ...IDLE,
          phase: 'failed',
          failure,
          failures: failure.kind === 'problem' ? failures + 1 : 0,
        }));
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        if (current.current === controller) current.current = null;
      }
    },
    [refreshProfile],
  );

  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = null;
    setView(({ failures, progress }) => ({ ...IDLE, phase: 'cancelled', failures, progress }));
  }, []);

  const { ai_consent: consent, subscription_plan: plan, access_valid_until: until } = profile ?? {};
  useClearFailureOnChange(setView, ACCOUNT_REASONS, JSON.stringify([consent, plan, until, expired]));
  useClearFailureOnChange(setView, INPUT_REASONS, inputKey);

  return { view, run, cancel };
}

/**
 * Clears a failure for one of these reasons when its cause, identified by `causeKey`, has changed. Sends no request.
 */
function useClearFailureOnChange(
  setView: Dispatch<SetStateAction<AnalysisView>>,
  reasons: ReadonlySet<CoachFailure['reason']>,
  causeKey: string,
): void {
  const previousKey = useRef(causeKey);
  useEffect(() => {
    if (previousKey.current === causeKey) return;
    previousKey.current = causeKey;
    setView((now) => (now.failure && reasons.has(now.failure.reason) ? IDLE : now));
  }, [causeKey, reasons, setView]);
}

/** Longer waits are shown as a time of day instead of a countdown. */
const MAX_COUNTDOWN_MS = 10 * 60_000;

/** Shows why an analysis failed. `failures`: consecutive failed attempts, the first one included. */
export function AnalysisFailure({ failure, failures }: { failure: CoachFailure; failures: number }) {
  return (
    <Notice kind="error">
      <TextWithSupportLink text={failureMessage(failure.reason, failure.message, failures)} about="AI feedback" />
    </Notice>
  );
}

/** The wait before a retry as a text, updated every second; null when a retry is allowed. */
export function useRetryWait(failure: CoachFailure | null): string | null {
  const until = failure?.retryAt ?? null;
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  if (until === null || until <= now) return null;
  if (until - now > MAX_COUNTDOWN_MS) {
    const at = new Date(until);
    return `You can try again on ${weekdayOf(dayOf(at))} at ${clockTime(at)}.`;
  }
  const seconds = Math.ceil((until - now) / 1_000);
  const wait = seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
  return `You can try again in ${wait}.`;
}

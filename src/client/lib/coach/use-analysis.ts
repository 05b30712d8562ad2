/** One analysis at a time, followed on the screen: asked for, written, done, failed or called off. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Dispatch, SetStateAction } from 'react';
import type { CoachAnswer, CoachFailure } from './coach-stream.ts';
import { useSession } from '../session/session.ts';

export type AnalysisView = {
  phase: 'idle' | 'running' | 'done' | 'failed' | 'cancelled';
  /** What was written so far; empty unless running. */
  text: string;
  score: number | null;
  failure: CoachFailure | null;
  /** How many tries in a row were made and came to nothing. What was refused was none. */
  failures: number;
};

type Hearing = { signal: AbortSignal; onScore: (score: number) => void; onText: (delta: string) => void };

const IDLE: AnalysisView = { phase: 'idle', text: '', score: null, failure: null, failures: 0 };

/** What the profile says otherwise than this page has it: read again, the screen asks for it by itself. */
const OF_PROFILE: ReadonlySet<CoachFailure['reason']> = new Set(['premium', 'ai_consent']);
const OF_ACCOUNT: ReadonlySet<CoachFailure['reason']> = new Set([...OF_PROFILE, 'signed_out']);
const OF_WORDS: ReadonlySet<CoachFailure['reason']> = new Set(['no_entry', 'too_short', 'canned', 'unsaved']);

/**
 * `run` begins one, unless one is under way; `onDone` is told its result before the screen shows the end. Leaving the
 * screen calls it off, and so does `cancel`. `words`: is another one whenever what is asked about is.
 */
export function useAnalysis<Result>(words = '') {
  const [view, setView] = useState<AnalysisView>(IDLE);
  const { profile, expired, refreshProfile } = useSession();
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const run = useCallback(
    async (ask: (hearing: Hearing) => Promise<CoachAnswer<Result>>, onDone: (result: Result) => unknown) => {
      if (current.current) return;
      const controller = new AbortController();
      const { signal } = controller;
      current.current = controller;
      const set = (change: (now: AnalysisView) => AnalysisView): void => {
        if (current.current === controller) setView(change);
      };
      setView((now) => ({ ...now, phase: 'running', text: '', score: null, failure: null }));
      try {
        const answer = await ask({
          signal,
          onScore: (score) => set((now) => ({ ...now, score })),
          onText: (delta) => set((now) => ({ ...now, text: now.text + delta })),
        });
        if (signal.aborted) return;
        if (answer.kind === 'done') {
          await onDone(answer.result);
          set(() => ({ ...IDLE, phase: 'done' }));
          return;
        }
        const { failure } = answer;
        if (OF_PROFILE.has(failure.reason)) await refreshProfile();
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
    setView(({ failures }) => ({ ...IDLE, phase: 'cancelled', failures }));
  }, []);

  const { ai_consent: agreed, subscription_plan: plan, access_valid_until: until } = profile ?? {};
  useForgiven(setView, OF_ACCOUNT, JSON.stringify([agreed, plan, until, expired]));
  useForgiven(setView, OF_WORDS, words);

  return { view, run, cancel };
}

/** Takes back a refusal for one of these reasons once what it rested on has changed. Asks nobody. */
function useForgiven(
  setView: Dispatch<SetStateAction<AnalysisView>>,
  reasons: ReadonlySet<CoachFailure['reason']>,
  basis: string,
): void {
  const before = useRef(basis);
  useEffect(() => {
    if (before.current === basis) return;
    before.current = basis;
    setView((now) => (now.failure && reasons.has(now.failure.reason) ? IDLE : now));
  }, [basis, reasons, setView]);
}

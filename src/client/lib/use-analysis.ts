/** One analysis at a time, followed on the screen: asked for, written, done, failed or called off. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { CoachAnswer, CoachFailure } from './coach-stream.ts';

export type AnalysisView = {
  phase: 'idle' | 'running' | 'done' | 'failed' | 'cancelled';
  /** What was written so far; empty unless running. */
  text: string;
  score: number | null;
  failure: CoachFailure | null;
  /** How many tries in a row came to nothing. */
  failures: number;
};

type Hearing = { signal: AbortSignal; onScore: (score: number) => void; onText: (delta: string) => void };

const IDLE: AnalysisView = { phase: 'idle', text: '', score: null, failure: null, failures: 0 };

/**
 * `run` begins one, unless one is under way; `onDone` is told its result before the screen shows the end. Leaving the
 * screen calls it off, and so does `cancel`.
 */
export function useAnalysis<Result>() {
  const [view, setView] = useState<AnalysisView>(IDLE);
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
        if (answer.kind === 'done') await onDone(answer.result);
        set(({ failures }) =>
          answer.kind === 'done'
            ? { ...IDLE, phase: 'done' }
            : { ...IDLE, phase: 'failed', failure: answer.failure, failures: failures + 1 },
        );
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        if (current.current === controller) current.current = null;
      }
    },
    [],
  );

  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = null;
    setView(({ failures }) => ({ ...IDLE, phase: 'cancelled', failures }));
  }, []);

  const reset = useCallback(() => {
    current.current?.abort();
    current.current = null;
    setView(IDLE);
  }, []);

  return { view, run, cancel, reset };
}

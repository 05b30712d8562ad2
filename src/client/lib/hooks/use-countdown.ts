/** Counts down whole seconds from `startedAt` or the first render on, and again from each `restart`. */
import { useEffect, useState } from 'react';

const TICK_MS = 1_000;

/**
 * In this time the server sends at most one mail of a kind to an account, and one text message to a phone number
 * (docs/specification/limits.md 2).
 */
export const RESEND_SECONDS = 60;

export function useCountdown(seconds: number, startedAt?: number): { left: number; restart: () => void } {
  const [now, setNow] = useState(() => Date.now());
  const [start, setStart] = useState(startedAt ?? now);
  // A clock that was set back must not extend the wait.
  const left = Math.min(seconds, Math.max(0, Math.ceil(seconds - (now - start) / 1_000)));
  const isRunning = left > 0;
  useEffect(() => {
    if (!isRunning) return;
    // A sleeping machine stops timers, so each tick reads the clock.
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const restart = (): void => {
    setStart(Date.now());
    setNow(Date.now());
  };
  return { left, restart };
}

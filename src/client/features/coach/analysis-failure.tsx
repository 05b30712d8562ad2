/** Shows why an analysis failed and when a retry is allowed. */
import { useEffect, useState } from 'react';
import { clockTime } from '#domain/day/clock-time.ts';
import { dayOf, weekdayOf } from '#domain/day/day.ts';
import { failureMessage } from '#domain/coach/coach.ts';
import type { CoachFailure } from './coach-stream.ts';
import { Notice } from '#client/ui/notice.tsx';
import { TextWithSupportLink } from '#client/ui/account/support-link.tsx';

/** Longer waits are shown as a time of day instead of a countdown. */
const MAX_COUNTDOWN_MS = 10 * 60_000;

/** `failures`: consecutive failed attempts, the first one included. */
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

/** Why there is no answer, how often it was tried, and when another try is of use. */
import { useEffect, useState } from 'react';
import { failureMessage } from '#domain/coach/coach.ts';
import type { CoachFailure } from '#client/lib/coach/coach-stream.ts';
import { Notice } from '../notice.tsx';
import { TextWithSupportLink } from '../account/support-link.tsx';

/** Beyond this nobody waits on the page: the time of day says more than a count. */
const COUNTED_MS = 10 * 60_000;

/** `failures` in a row; the first of them was no retry. */
export function AnalysisFailure({ failure, failures }: { failure: CoachFailure; failures: number }) {
  return (
    <Notice kind="error">
      <TextWithSupportLink text={failureMessage(failure.reason, failure.message, failures)} about="AI feedback" />
    </Notice>
  );
}

/** How long another try is of no use, in words; null when it may be made. Looks at the clock once a second. */
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
  if (until - now > COUNTED_MS) {
    const time = new Date(until).toLocaleString([], { weekday: 'short', hour: '2-digit', minute: '2-digit' });
    return `The next try can be made ${time}.`;
  }
  const seconds = Math.ceil((until - now) / 1_000);
  const wait = seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
  return `The next try can be made in ${wait}.`;
}

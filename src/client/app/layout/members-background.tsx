/**
 * The background tasks of a signed-in user: those of saving, the message about text that the browser has lost, and new
 * requests for a plan that could not be loaded.
 */
import { useCallback, useEffect } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { BackgroundTasks } from '#client/sync/background-tasks.tsx';
import { useSession } from '#client/lib/session/session.ts';
import { useToast } from '#client/ui/toast.tsx';
import { usePreferences } from '#client/ui/use-preferences.ts';
import { createPlanRefresh } from '../session/use-plan-change.ts';

/** How often a visible page asks for a plan that it could not load. */
const RETRY_MS = 5_000;

export function MembersBackground() {
  const toast = useToast();
  /** The text itself is not known, and the page may have saved it when it was closed. */
  const showLostText = useCallback(
    (days: readonly Day[]) =>
      toast({
        kind: 'error',
        text: `Unsent text of ${days.map(dayLabel).join(' and ')} may be lost: this browser has cleared its storage.`,
        // An error with a button stays until the user dismisses it.
        action: { label: 'Got it', run: () => {} },
      }),
    [toast],
  );
  useRetryPlan();
  // Read after the page is usable, for this page and the start of the next.
  usePreferences();
  return <BackgroundTasks onTextLost={showLostText} />;
}

/** Asks again until the plan is known. `usePlanChange` also asks when the user comes back. */
function useRetryPlan(): void {
  const { expired, profileState, refreshProfile } = useSession();
  const isUnknown = profileState === 'unavailable' && !expired;
  useEffect(() => {
    if (!isUnknown) return;
    const retry = createPlanRefresh(refreshProfile);
    // Jitter: the browsers that one outage has cut off don't all ask at one moment.
    const timer = setInterval(retry, RETRY_MS * (1 + Math.random() / 2));
    addEventListener('online', retry);
    return () => {
      clearInterval(timer);
      removeEventListener('online', retry);
    };
  }, [isUnknown, refreshProfile]);
}

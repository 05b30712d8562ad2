/** The background tasks of a signed-in user: those of saving, and the message about text that the browser has lost. */
import { useCallback } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { BackgroundTasks } from '#client/sync/background-tasks.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { usePreferences } from '#client/ui/use-preferences.ts';

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
  // Read after the page is usable, for this page and the start of the next.
  usePreferences();
  return <BackgroundTasks onTextLost={showLostText} />;
}

import { useCallback } from 'react';
import { dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { useToast } from '#client/ui/toast.tsx';

/**
 * Returns a function that tells the user of unsent text that the browser has cleared. The text itself is not known, and
 * the page may have saved it when it was closed.
 */
export function useLostTextToast(): (days: readonly Day[]) => void {
  const toast = useToast();
  return useCallback(
    (days) =>
      toast({
        kind: 'error',
        text: `Unsent text of ${days.map(dayLabel).join(' and ')} may be lost: this browser has cleared its storage.`,
        // An error with a button stays until the user dismisses it.
        action: { label: 'Got it', run: () => {} },
      }),
    [toast],
  );
}

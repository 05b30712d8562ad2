/** Starts the focus mode on the journal's page. Its code is a separate chunk: the page works without it. */
import { useEffect } from 'react';
import type { RefObject } from 'react';

export function useFocusMode(page: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let stop: (() => void) | null = null;
    let isUnmounted = false;
    void import('./focus-mode.ts').then(
      ({ startFocusMode }) => {
        if (!isUnmounted && page.current) stop = startFocusMode(page.current);
      },
      // Nothing but the looks of the bars depends on it.
      () => undefined,
    );
    return () => {
      isUnmounted = true;
      stop?.();
    };
  }, [page]);
}

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
      // Best effort: the focus mode only changes how the bars look.
      () => undefined,
    );
    return () => {
      isUnmounted = true;
      stop?.();
    };
  }, [page]);
}

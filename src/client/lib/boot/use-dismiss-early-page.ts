/** Dismisses the early page. Every screen or message that React shows in place of its day must use this hook. */
import { useLayoutEffect } from 'react';

export const useDismissEarlyPage = (isShown = true): void =>
  useLayoutEffect(() => {
    if (isShown) globalThis.hustleForgeEarlyPage?.dismiss();
  }, [isShown]);

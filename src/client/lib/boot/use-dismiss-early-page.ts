/** For everything that React shows instead of the day that the early page shows. */
import { useLayoutEffect } from 'react';

export const useDismissEarlyPage = (isShown = true): void =>
  useLayoutEffect(() => {
    if (isShown) globalThis.hustleForgeEarlyPage?.dismiss();
  }, [isShown]);

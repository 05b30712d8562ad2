/**
 * Dismisses the early page (early-page.ts), which hides `#root`. Every screen or message that React shows instead of
 * today's log must use this hook, or the user does not see it.
 */
import { useLayoutEffect } from 'react';

export const useDismissEarlyPage = (isShown = true): void =>
  useLayoutEffect(() => {
    if (isShown) globalThis.hustleForgeEarlyPage?.dismiss();
  }, [isShown]);

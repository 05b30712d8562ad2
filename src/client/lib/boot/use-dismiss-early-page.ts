/**
 * Dismisses what the page shows before React: the early page (early-page.ts) or the frame of the route
 * (app/page-frames.tsx). Both hide `#root`. Every screen or message that React shows instead of today's log must use
 * this hook, or the user does not see it. A screen that waits for the session must not.
 */
import { useLayoutEffect } from 'react';
import { leaveFrame, PAGE_FRAME_ID } from './early-form.ts';

export const useDismissEarlyPage = (isShown = true): void =>
  useLayoutEffect(() => {
    if (!isShown) return;
    globalThis.hustleForgeEarlyPage?.dismiss();
    const frame = document.getElementById(PAGE_FRAME_ID);
    if (frame) leaveFrame(frame);
  }, [isShown]);

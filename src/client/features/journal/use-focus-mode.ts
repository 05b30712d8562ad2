/** The bars step back while somebody writes, and out of the way while a phone scrolls. Set on the element, not by rendering. */
import { useEffect } from 'react';
import type { RefObject } from 'react';

const WRITING_MS = 3_000;
/** A pause this long is no longer one stretch of writing. */
const PAUSE_MS = 5_000;
const SCROLL_STEP_PX = 12;

/** Sets `data-writing` after three seconds of typing; a pointer, Tab, or the focus that goes elsewhere takes it away. */
export function useFocusMode(page: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = page.current;
    if (!element) return;
    let since = 0;
    let latest = 0;
    const show = (): void => {
      since = 0;
      delete element.dataset['writing'];
    };
    const onInput = (): void => {
      const now = Date.now();
      if (since === 0 || now - latest > PAUSE_MS) since = now;
      latest = now;
      if (now - since >= WRITING_MS) element.dataset['writing'] = '';
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Tab' || event.key === 'Escape') show();
    };
    element.addEventListener('input', onInput);
    element.addEventListener('focusin', show);
    addEventListener('pointermove', show, { passive: true });
    addEventListener('pointerdown', show, { passive: true });
    addEventListener('keydown', onKey);
    return () => {
      element.removeEventListener('input', onInput);
      element.removeEventListener('focusin', show);
      removeEventListener('pointermove', show);
      removeEventListener('pointerdown', show);
      removeEventListener('keydown', onKey);
    };
  }, [page]);
}

/** Sets `data-scrolled` while the page moves down; the style sheet hides the bar for it on small screens alone. */
export function useHidingBar(page: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last = scrollY;
    const onScroll = (): void => {
      const element = page.current;
      const moved = scrollY - last;
      if (!element || Math.abs(moved) < SCROLL_STEP_PX) return;
      last = scrollY;
      if (moved > 0 && scrollY > 64) element.dataset['scrolled'] = '';
      else delete element.dataset['scrolled'];
    };
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, [page]);
}

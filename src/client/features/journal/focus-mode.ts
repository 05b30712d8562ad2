/**
 * Dims the bars while the user writes and hides them while a phone scrolls down, by attributes that style sheets read.
 */

/** Typing for this long starts the focus mode. */
const WRITING_MS = 3_000;
/** After a longer pause, the next input starts a new stretch of typing. */
const MAX_PAUSE_MS = 5_000;
const SCROLL_STEP_PX = 12;
const BAR_HEIGHT_PX = 64;

/** Returns a function that removes the listeners. */
export function startFocusMode(page: HTMLElement): () => void {
  const listeners = new AbortController();
  const { signal } = listeners;
  watchWriting(page, signal);
  watchScrolling(page, signal);
  return () => listeners.abort();
}

/** Sets `data-writing` after three seconds of typing. The pointer, Tab, Escape or a new focus removes it. */
function watchWriting(page: HTMLElement, signal: AbortSignal): void {
  let startedAt = 0;
  let lastInputAt = 0;
  const showBars = (): void => {
    startedAt = 0;
    delete page.dataset['writing'];
  };
  const onInput = (): void => {
    const now = Date.now();
    if (startedAt === 0 || now - lastInputAt > MAX_PAUSE_MS) startedAt = now;
    lastInputAt = now;
    if (now - startedAt >= WRITING_MS) page.dataset['writing'] = '';
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Tab' || event.key === 'Escape') showBars();
  };
  page.addEventListener('input', onInput, { signal });
  page.addEventListener('focusin', showBars, { signal });
  addEventListener('pointermove', showBars, { passive: true, signal });
  addEventListener('pointerdown', showBars, { passive: true, signal });
  addEventListener('keydown', onKey, { signal });
}

/** Sets `data-scrolled` on scrolling down, removes it on scrolling up. Only small screens use it in the style sheet. */
function watchScrolling(page: HTMLElement, signal: AbortSignal): void {
  let last = scrollY;
  const onScroll = (): void => {
    const moved = scrollY - last;
    if (Math.abs(moved) < SCROLL_STEP_PX) return;
    last = scrollY;
    if (moved > 0 && scrollY > BAR_HEIGHT_PX) page.dataset['scrolled'] = '';
    else delete page.dataset['scrolled'];
  };
  addEventListener('scroll', onScroll, { passive: true, signal });
}
